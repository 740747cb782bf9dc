// Package audit says whether the databases keep the invariants that the product promises. Each service answers for its
// own database under live traffic, from one snapshot; what ties the services to each other can only be judged at rest,
// when every outbox is empty, every step sent and every record read.
//
// The package compares facts that the stores hand it and changes nothing. A violation names its invariant, so that a
// report can be acted on without reading this code.
package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"kuhnya/internal/lifecycle"
)

// The invariants by their numbers in the documentation.
const (
	Stock      = 1 // on hand = changes by hand − taken by live orders, never negative
	ClientKey  = 2 // a user's key names one order
	History    = 3 // an order's events are a path of the state machine that ends in its status
	Projection = 6 // at rest: tickets, steps and orders tell the same story
)

// Violation is one broken promise.
type Violation struct {
	Invariant int    `json:"invariant"`
	Subject   string `json:"subject"` // what it is about: dish, order, ticket, with its id
	Detail    string `json:"detail"`
}

func (v Violation) String() string {
	return fmt.Sprintf("invariant %d: %s: %s", v.Invariant, v.Subject, v.Detail)
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
	return fmt.Sprintf("not at rest: %d outbox rows, %d unsent steps, %d records unread", r.Outbox, r.Steps, r.Lag)
}

// Orders is what kitchen knows, for the comparison.
type Orders struct {
	Status  map[uuid.UUID]lifecycle.Status
	Entered map[uuid.UUID][]lifecycle.Status // of each order, by its events
}

// Tickets is what establishment knows.
type Tickets struct {
	Status map[uuid.UUID]lifecycle.Status // of tickets that are not hidden
	Sent   map[uuid.UUID][]lifecycle.Status
}

// Excused holds the orders that a dead letter, open or discarded, or a parked row accounts for.
type Excused map[uuid.UUID]bool

// Compare checks, at rest, that every order has a ticket with its status, and that every step that was sent is in its
// order's history, unless the order is excused.
func Compare(orders Orders, tickets Tickets, excused Excused) (violations []Violation) {
	report := func(id uuid.UUID, format string, args ...any) {
		if !excused[id] {
			violations = append(violations, Violation{Projection, "order " + id.String(), fmt.Sprintf(format, args...)})
		}
	}
	for _, id := range sorted(orders.Status) {
		switch status, exists := tickets.Status[id]; {
		case !exists:
			report(id, "has no ticket")
		case status != orders.Status[id]:
			report(id, "is %s, its ticket %s", orders.Status[id], status)
		}
	}
	for _, id := range sorted(tickets.Status) {
		if _, exists := orders.Status[id]; !exists {
			report(id, "has a ticket but does not exist")
		}
	}
	for _, id := range sorted(tickets.Sent) {
		for _, step := range tickets.Sent[id] {
			if !slices.Contains(orders.Entered[id], step) {
				report(id, "never entered %s, though that step was sent", step)
			}
		}
	}
	return violations
}

func sorted[V any](m map[uuid.UUID]V) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(m), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
}
