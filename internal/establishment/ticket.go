package establishment

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// Ticket is an order as its establishment handles it.
type Ticket struct {
	OrderID         uuid.UUID
	Code            string // what staff call out
	EstablishmentID uuid.UUID
	Status          lifecycle.Status
	Reason          string // why it was rejected or cancelled
	Lines           []Line
	Comment         string
	Total           money.Money
	AcceptDeadline  time.Time

	KitchenSeq int64              // of the newest status that kitchen told
	Hidden     bool               // known from a change alone: without lines, not shown to anybody
	Entered    []lifecycle.Status // the statuses that it has been through, in the order of the table, with its own
	Published  bool               // no step of it is unsent

	CreatedAt time.Time // when the order was placed
	UpdatedAt time.Time
}

// Line is one line of an order, with the name and price that the dish had when the order was placed. Amounts are in
// minor units of the ticket's currency.
type Line struct {
	DishID    uuid.UUID
	Name      string
	Quantity  int64
	UnitPrice int64
	Total     int64
}

// Step is one press as kitchen is to be told. The steps of a ticket are its outbox: numbered from 1 without gaps, sent
// in that order.
type Step struct {
	OrderID         uuid.UUID
	EstablishmentID uuid.UUID // of its ticket
	No              int64
	Status          lifecycle.Status
	Reason          string
	Key             idempotency.Key // the same on every try
	EventID         uuid.UUID       // names the step where it is marked as sent
	Trace           string          // traceparent of the press that made it, may be empty
	CreatedAt       time.Time
	SentAt          *time.Time // when the broker's acknowledgement was noted, nil before
}

func (s Step) unsent() bool { return s.SentAt == nil }

func (t Ticket) hasEntered(s lifecycle.Status) bool { return slices.Contains(t.Entered, s) }
