package establishment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
)

// MaxReason is the longest reason of a rejection or cancellation, in characters.
const MaxReason = 500

// Press is a button of the board, pressed for a ticket of the establishment.
type Press struct {
	OrderID         uuid.UUID
	EstablishmentID uuid.UUID // must be the ticket's; to anybody else the ticket does not exist
	Action          lifecycle.Action
	Reason          string // for the customer; kept for the actions that need one
	Trace           string // traceparent of the request, may be empty
}

// pressing is a press on its way through the batch. The id of the step that it may become is made before the
// transaction.
type pressing struct {
	Press
	target  lifecycle.Status
	eventID uuid.UUID
}

// pressed is a decided press: the ticket, with the status that the press took it out of, "" for a repeat, and the step
// to publish once more if the press only repeats where the ticket stands already.
type pressed struct {
	ticket Ticket
	from   lifecycle.Status
	again  *Step
}

// Advance presses a button and returns the ticket as it is then.
//
// The press is stored first and told to kitchen afterwards. If telling fails, Advance returns the stored ticket together
// with a publish_failed: the press stands, and pressing again stores nothing new but tells again, under the same key. A
// button whose status the ticket has entered before is such a repeat, whoever pressed it first.
//
// A caller that may vanish passes a context that does not end with it, but has a deadline.
func (s *Service) Advance(ctx context.Context, p Press) (Ticket, error) {
	command, err := p.parse()
	if err != nil {
		return Ticket{}, err
	}
	decided, err := s.pressings.DoThen(ctx, command, s.logAdvanced(ctx, command))
	if err != nil {
		return Ticket{}, refusal(err)
	}
	if _, err := s.publish(ctx, p.OrderID, decided.again); err != nil {
		if fault.CodeOf(err) == fault.PublishFailed {
			s.untold.Add(1)
		}
		return decided.ticket, err
	}
	ticket, _, err := s.store.Ticket(ctx, p.OrderID)
	return ticket, err
}

// Untold is the number of presses that ended in publish_failed in this process: stored, and not told to kitchen yet.
func (s *Service) Untold() int64 { return s.untold.Load() }

func (p Press) parse() (pressing, error) {
	target, known := p.Action.Target()
	if !known {
		return pressing{}, fault.Invalid("/action", "must be accept, reject, start, ready, complete or cancel")
	}
	if !p.Action.NeedsReason() {
		p.Reason = ""
	} else if strings.TrimSpace(p.Reason) == "" || utf8.RuneCountInString(p.Reason) > MaxReason {
		return pressing{}, fault.Invalid("/reason", "must tell the customer why, in 1 to %d characters", MaxReason)
	}
	return pressing{Press: p, target: target, eventID: newID()}, nil
}

// pressBatch decides presses in the order of their arrival, in one transaction. It is batch.Apply.
func (s *Service) pressBatch(ctx context.Context, presses []pressing) (outcomes []batch.Outcome[pressed], err error) {
	err = s.store.Write(ctx, func(tx Tx) error {
		d, err := openAdvance(tx, presses)
		if err != nil {
			return err
		}
		outcomes = batch.Each(presses, d.decide)
		for i, p := range presses {
			if outcomes[i].Err == nil {
				outcomes[i].Value.ticket = d.record(p.OrderID)
			}
		}
		return d.save(tx)
	})
	return outcomes, err
}

// advance is one batch of presses being decided over the tickets that its transaction locked.
type advance struct {
	now     time.Time
	tickets map[uuid.UUID]Ticket
	steps   map[uuid.UUID][]Step
	moved   map[uuid.UUID]bool
	added   []Step
}

// openAdvance takes the row locks first and reads after: two tablets that press at once decide one after the other.
func openAdvance(tx Tx, presses []pressing) (*advance, error) {
	ids := make([]uuid.UUID, len(presses))
	for i, p := range presses {
		ids[i] = p.OrderID
	}
	ids = distinct(ids)
	d := &advance{moved: map[uuid.UUID]bool{}}
	var err error
	if d.tickets, err = tx.LockTickets(ids); err != nil {
		return nil, fmt.Errorf("lock tickets: %w", err)
	}
	if d.steps, err = tx.StepsOf(ids); err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	if d.now, err = tx.Now(); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	return d, nil
}

// decide stores nothing for a repeat, and may return the step that a repeat publishes once more. The ticket is filled in
// when the whole batch is decided.
func (d *advance) decide(p pressing) (pressed, error) {
	ticket, known := d.tickets[p.OrderID]
	if !known || ticket.Hidden || ticket.EstablishmentID != p.EstablishmentID {
		return pressed{}, fault.New(fault.NotFound, "no such ticket")
	}
	if ticket.hasEntered(p.target) {
		return pressed{again: d.repeat(ticket, p)}, nil
	}
	if err := lifecycle.Check(lifecycle.Staff, ticket.Status, p.target); err != nil {
		return pressed{}, err
	}
	d.apply(ticket, p)
	return pressed{from: ticket.Status}, nil
}

// repeat returns the step of the current status if that is what was pressed and every step is marked as sent: the mark
// says that the broker has it, not that kitchen does. Where steps are unsent, sending those is enough.
func (d *advance) repeat(t Ticket, p pressing) *Step {
	steps := d.steps[t.OrderID]
	if p.target != t.Status || slices.ContainsFunc(steps, Step.unsent) {
		return nil
	}
	for _, step := range steps {
		if step.Status == t.Status {
			return &step
		}
	}
	// Kitchen had the status from somebody else, so it has no step here. The key is the same all the same.
	return new(d.step(t, p))
}

// apply moves the ticket on; status and step belong to one transaction.
func (d *advance) apply(t Ticket, p pressing) {
	t.Status, t.Reason, t.UpdatedAt = p.target, p.Reason, d.now
	t.Entered = append(slices.Clone(t.Entered), p.target)
	step := d.step(t, p)
	d.tickets[t.OrderID] = t
	d.steps[t.OrderID] = append(d.steps[t.OrderID], step)
	d.moved[t.OrderID] = true
	d.added = append(d.added, step)
}

// step is the next step of a ticket, to the status where it stands.
func (d *advance) step(t Ticket, p pressing) Step {
	return Step{
		OrderID: t.OrderID, EstablishmentID: t.EstablishmentID, No: int64(len(d.steps[t.OrderID]) + 1), Status: t.Status,
		Reason: t.Reason, Key: callbackKey(t.OrderID, t.Status), EventID: p.eventID, Trace: p.Trace, CreatedAt: d.now,
	}
}

func (d *advance) save(tx Tx) error {
	if len(d.added) == 0 {
		return nil
	}
	moved := make([]Ticket, 0, len(d.moved))
	for id := range d.moved {
		moved = append(moved, d.tickets[id])
	}
	if err := tx.UpdateTickets(moved); err != nil {
		return fmt.Errorf("update tickets: %w", err)
	}
	if err := tx.InsertSteps(d.added); err != nil {
		return fmt.Errorf("insert steps: %w", err)
	}
	return nil
}

// record is the ticket as this batch leaves it.
func (d *advance) record(id uuid.UUID) Ticket {
	ticket := d.tickets[id]
	ticket.Published = !slices.ContainsFunc(d.steps[id], Step.unsent)
	return ticket
}
