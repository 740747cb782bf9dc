package audit

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kuhnya/internal/lifecycle"
)

// Statuses is a set of statuses. A comparison holds every order there is, so each costs a byte.
type Statuses uint8

// SetOf returns the set of the given statuses; those that the lifecycle doesn't know are left out.
func SetOf(statuses ...lifecycle.Status) (set Statuses) {
	for _, s := range statuses {
		if i := slices.Index(lifecycle.Statuses, s); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// list returns the statuses of the set in the order of the lifecycle.
func (s Statuses) list() (list []lifecycle.Status) {
	for i, status := range lifecycle.Statuses {
		if s&(1<<i) != 0 {
			list = append(list, status)
		}
	}
	return list
}

// name is the only status in the set.
func (s Statuses) name() string {
	if list := s.list(); len(list) == 1 {
		return string(list[0])
	}
	return "in no known status"
}

// Order is what kitchen knows of an order, for the comparison.
type Order struct {
	ID      uuid.UUID
	Status  Statuses // one, or none that is known
	Entered Statuses // by its events
}

// Ticket is what establishment knows of an order.
type Ticket struct {
	ID     uuid.UUID // of the order
	Hidden bool      // known by changes only, so to the staff it does not exist
	Status Statuses  // one, or none that is known
	Sent   Statuses  // of the steps that are marked as sent
}

// Excused holds the orders that a dead letter, open or discarded, or a parked row accounts for.
type Excused map[uuid.UUID]bool

// Compare checks, at rest, that every order has a ticket with its status, and that every step that was sent is in its
// order's history, unless the order is excused. Both sides are sorted by id, each id once.
func Compare(orders []Order, tickets []Ticket, excused Excused) (violations []Violation) {
	for len(orders) > 0 || len(tickets) > 0 {
		var order *Order
		var ticket *Ticket
		side := next(orders, tickets)
		if side <= 0 {
			order, orders = &orders[0], orders[1:]
		}
		if side >= 0 {
			ticket, tickets = &tickets[0], tickets[1:]
		}
		violations = append(violations, disagreements(order, ticket, excused)...)
	}
	return violations
}

// next says whose id comes next: below 0 it is an order's alone, above 0 a ticket's alone, 0 that of both.
func next(orders []Order, tickets []Ticket) int {
	switch {
	case len(tickets) == 0:
		return -1
	case len(orders) == 0:
		return 1
	}
	return bytes.Compare(orders[0].ID[:], tickets[0].ID[:])
}

// disagreements are between the two sides of one order, of which one may be missing.
func disagreements(order *Order, ticket *Ticket, excused Excused) (violations []Violation) {
	id, entered, sent := uuid.Nil, Statuses(0), Statuses(0)
	if order != nil {
		id, entered = order.ID, order.Entered
	}
	if ticket != nil {
		id, sent = ticket.ID, ticket.Sent
	}
	if excused[id] {
		return nil
	}
	report := func(format string, args ...any) {
		violations = append(violations, Violation{Projection, "order " + id.String(), fmt.Sprintf(format, args...)})
	}
	switch visible := ticket != nil && !ticket.Hidden; {
	case order == nil && visible:
		report("has a ticket but does not exist")
	case order != nil && !visible:
		report("has no ticket")
	case order != nil && order.Status != ticket.Status:
		report("is %s, its ticket %s", order.Status.name(), ticket.Status.name())
	}
	for _, step := range (sent &^ entered).list() {
		report("never entered %s, though that step was sent", step)
	}
	return violations
}
