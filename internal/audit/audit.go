// Package audit says whether the databases keep the invariants that the product promises. Each service answers for its
// own database under live traffic, from one snapshot; what ties the services to each other can only be judged at rest,
// when every outbox is empty, every step sent and every record read.
//
// The package compares facts that the stores hand it and changes nothing. A violation names its invariant, so that a
// report can be acted on without reading this code.
package audit

import "fmt"

// The invariants by their numbers in the documentation.
const (
	Stock      = 1 // on hand = changes by hand − taken by live orders, never negative
	ClientKey  = 2 // a user's key names one order
	History    = 3 // an order's events are a path of the state machine that ends in its status
	Accrual    = 4 // what an order earned was accrued once, and what was accrued for an order was earned
	Ledger     = 5 // accruals, ledger, balances and saved answers tell the same story
	Projection = 6 // at rest: orders, tickets, steps and evaluations tell the same story
)

// Violation is one broken promise.
type Violation struct {
	Invariant int    `json:"invariant"`
	Subject   string `json:"subject"` // what it is about: dish, order, ticket, with its id
	Detail    string `json:"detail"`
}

// names are what the invariants are about, in a word or two.
var names = map[int]string{
	Stock: "stock", ClientKey: "client keys", History: "history of orders", Accrual: "accruals", Ledger: "ledger",
	Projection: "services agree",
}

// String is one line for people.
func (v Violation) String() string {
	return fmt.Sprintf("invariant %d (%s): %s: %s", v.Invariant, names[v.Invariant], v.Subject, v.Detail)
}

// Parked is an outbox row that could not be published: what it would have told never reached anybody, so its order is
// excused from the comparison until a person has looked at it.
type Parked struct {
	Database string `json:"database"`
	ID       int64  `json:"id"`
	Key      string `json:"key"` // of the record: the id of an order
	Reason   string `json:"reason"`
}

func (p Parked) String() string {
	return fmt.Sprintf("parked in %s: outbox row %d of %s: %s", p.Database, p.ID, p.Key, p.Reason)
}

// Rest is what must be gone before services can be compared.
type Rest struct {
	Outbox int64 // rows waiting in outboxes
	Steps  int64 // unsent steps of tickets
	Lag    int64 // records that a declared group has not committed
}

// Unrest says what is still on its way, "" if nothing is.
func (r Rest) Unrest() string {
	if r == (Rest{}) {
		return ""
	}
	return fmt.Sprintf("%d outbox rows, %d unsent steps, %d records unread", r.Outbox, r.Steps, r.Lag)
}
