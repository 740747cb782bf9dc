// Package idempotency holds what a request needs to be sent again safely: the syntax of its key, the fingerprint of its
// command, the verdict that follows from both, and claims on keys that are in flight.
//
// Guarantee: [ParseHeader] maps the two spellings of a key to one value and refuses everything else. Two commands have
// equal [Fingerprint] values exactly if the same members with the same values were written, up to a collision of
// SHA-256. [Decide] never says [Execute] to a key that was found.
//
// Failure model: everything but [Claims] is a pure function. Claims live in one process and die with it. They are a
// courtesy that turns a wait into an early answer; losing them changes nothing but latency.
//
// What this package does not do: it stores nothing and decides no race. Whether a key is taken is decided by a unique
// index or a lock of the database, in the transaction that also has the effect. Neither does it scope keys: a key means
// something only together with the caller and the operation that it came with.
package idempotency
