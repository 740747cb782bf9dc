package establishment

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/lifecycle"
)

// Store is establishment's database. Its methods take and return sets, so that a batch of commands costs as many round
// trips as one command.
type Store interface {
	Reader
	// Write runs f in one transaction. It commits if f returns nil, else nothing of it remains. f may run again after
	// an error of the class batch.Again or batch.Busy, so it keeps no state from a run before.
	Write(ctx context.Context, f func(Tx) error) error
}

// Tx is what rules may do inside one write transaction.
type Tx interface {
	// Now is the database's clock: the only one by which the age of steps is judged.
	Now() (time.Time, error)
	// LockTickets locks the rows of the tickets in the order of their ids until the transaction ends, and returns them,
	// hidden ones too.
	LockTickets(ids []uuid.UUID) (map[uuid.UUID]Ticket, error)
	PressingTx
	MergingTx
	// MarkSent notes an acknowledgement for exactly the steps with these event ids. A step that was dropped meanwhile is
	// passed over, and one that is marked already keeps its time.
	MarkSent(eventIDs []uuid.UUID, at time.Time) error
}

// PressingTx is what pressing buttons needs.
type PressingTx interface {
	// StepsOf returns all steps of the tickets by number.
	StepsOf(orderIDs []uuid.UUID) (map[uuid.UUID][]Step, error)
	InsertSteps(steps []Step) error
	// UpdateTickets replaces tickets that exist. Published is not stored: it follows from the steps.
	UpdateTickets(tickets []Ticket) error
}

// MergingTx is what merging facts needs.
type MergingTx interface {
	// InsertTickets inserts tickets and leaves out those that another transaction has inserted first. It returns the ids
	// that it inserted.
	InsertTickets(tickets []Ticket) ([]uuid.UUID, error)
	// UpdateTickets replaces tickets that exist. Published is not stored: it follows from the steps.
	UpdateTickets(tickets []Ticket) error
	// DropUnsentSteps deletes the steps of the tickets that are not marked as sent.
	DropUnsentSteps(orderIDs []uuid.UUID) error
}

// Reader answers questions from one snapshot each.
type Reader interface {
	// Ticket returns a ticket unless it is hidden.
	Ticket(ctx context.Context, orderID uuid.UUID) (Ticket, bool, error)
	// Tickets returns up to limit tickets in the order of the filter that come after the given one (uuid.Nil: from the
	// start). Hidden tickets are left out.
	Tickets(ctx context.Context, filter TicketFilter, after uuid.UUID, limit int) ([]Ticket, error)
	// StepsToSend returns the steps of a ticket that are not marked as sent, by number.
	StepsToSend(ctx context.Context, orderID uuid.UUID) ([]Step, error)
	// Unsent returns the orders of up to limit tickets whose oldest unsent step is at least that old by the database's
	// clock, those with the oldest first.
	Unsent(ctx context.Context, age time.Duration, limit int) ([]uuid.UUID, error)
	// Backlog counts the unsent steps.
	Backlog(ctx context.Context) (Backlog, error)
}

// TicketFilter selects tickets; zero members select everything, newest first.
type TicketFilter struct {
	EstablishmentID uuid.UUID
	Status          lifecycle.Status
	OldestFirst     bool
}

// Backlog is what waits to be told to kitchen: the unsent steps and the age of the oldest by the database's clock.
type Backlog struct {
	Steps     int64
	OldestAge time.Duration
}
