// Package bonus is the rules of bonus-service: which points a completed order earns, and that it earns them once.
//
// Guarantee: for each user, campaign and order there is at most one accrual, whoever asks for it and how often: clients
// under keys of their own, and the record of the completed order, delivered any number of times. The accrual, its
// entries in the ledger, the client's key with the answer that it got, and the message that tells of it are one
// transaction. An order is evaluated once, by the campaigns that were in force when it was placed.
//
// Failure model: a transaction that loses a unique index to another runs again, and finds what the other one did.
// Whatever else fails is committed as a whole or not at all.
//
// The pieces: campaign.go and points.go (what an order earns), evaluate.go (a completed order), accrue.go (a client's
// accrual, M6), ledger.go (entries and balances), facts.go (what is told), fingerprint.go, service.go, store.go.
//
// What it does not do: points are not spent, do not expire and are never taken back.
package bonus
