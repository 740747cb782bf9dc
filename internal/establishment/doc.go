// Package establishment holds the rules of establishment-service: the tickets that staff carry from placed to
// completed. A ticket is a projection of its order. Kitchen has the truth about an order; a ticket may only be ahead
// of it by steps that are on their way to kitchen.
//
// Two things live here. A press of a button on the board is stored first and told to kitchen afterwards, in a form
// that may be told again safely (press.go, send.go, key.go); what nobody presses again, a sweep tells (sweep.go). And
// what kitchen tells about its orders is merged into the tickets, in whatever order and however often it arrives
// (merge.go).
//
// Guarantee: a press that returned a ticket is stored, as one step however often and from however many tablets it was
// pressed. Its step reaches kitchen at least once and after the steps before it, unless kitchen's own word overrules it
// first. Once kitchen's last word about an order has been merged and no step is unsent, the ticket stands where the
// order stands.
//
// Failure model: with the broker away, presses fail with publish_failed and stand all the same; a crash at any point
// loses nothing that was stored, and repeats at most steps that kitchen counts once. Sends of one order wait for each
// other within a process. Between processes they may interleave, which costs duplicates and nothing else.
//
// The package knows no SQL, HTTP or Kafka: it decides over the sets that a [Store] locks and reads, in one transaction
// per batch of commands. A store holds no rules; package establishmenttest has the suite that each store passes.
package establishment
