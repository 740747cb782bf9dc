package establishment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kuhnya/batch"
)

// errLostInsert says that another transaction inserted a ticket first. The batch runs again and finds that ticket.
var errLostInsert = errors.New("ticket inserted by another transaction")

// Merge applies the facts of a poll in order and returns an error for each, nil where it is applied or says nothing
// new. After an error that is not a refusal nothing later was applied, and every later fact has that error too.
func (s *Service) Merge(ctx context.Context, facts []Fact) []error {
	errs := make([]error, len(facts))
	for i, outcome := range s.mergings.DoAll(ctx, facts) {
		errs[i] = outcome.Err
	}
	return errs
}

// mergeBatch applies facts in the order of their arrival, in one transaction. It is batch.Apply.
func (s *Service) mergeBatch(ctx context.Context, facts []Fact) (outcomes []batch.Outcome[struct{}], err error) {
	err = s.store.Write(ctx, func(tx Tx) error {
		d, err := openProjection(tx, facts)
		if err != nil {
			return err
		}
		outcomes = make([]batch.Outcome[struct{}], len(facts))
		for i, fact := range facts {
			outcomes[i].Err = d.apply(fact)
		}
		return d.save(tx)
	})
	return outcomes, err
}

// projection is one batch of facts being merged into the tickets that its transaction locked.
type projection struct {
	now       time.Time
	tickets   map[uuid.UUID]Ticket
	stored    map[uuid.UUID]bool // tickets that the database has already
	changed   map[uuid.UUID]bool
	overruled map[uuid.UUID]bool
}

func openProjection(tx Tx, facts []Fact) (*projection, error) {
	ids := make([]uuid.UUID, len(facts))
	for i, fact := range facts {
		ids[i] = fact.order()
	}
	d := &projection{stored: map[uuid.UUID]bool{}, changed: map[uuid.UUID]bool{}, overruled: map[uuid.UUID]bool{}}
	var err error
	if d.tickets, err = tx.LockTickets(distinct(ids)); err != nil {
		return nil, fmt.Errorf("lock tickets: %w", err)
	}
	if d.now, err = tx.Now(); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	for id := range d.tickets {
		d.stored[id] = true
	}
	return d, nil
}

func (d *projection) apply(fact Fact) error {
	if err := fact.check(); err != nil {
		return err
	}
	id := fact.order()
	before, known := d.tickets[id]
	after, overruled := fact.mergeInto(before, known)
	if known && after.KitchenSeq == before.KitchenSeq && after.Hidden == before.Hidden {
		return nil
	}
	if after.Status != before.Status || after.Reason != before.Reason || after.Hidden != before.Hidden {
		after.UpdatedAt = d.now
	}
	d.tickets[id] = after
	d.changed[id] = true
	if overruled {
		d.overruled[id] = true
	}
	return nil
}

func (d *projection) save(tx Tx) error {
	inserted, updated, overruled := d.written()
	ids, err := tx.InsertTickets(inserted)
	if err != nil {
		return fmt.Errorf("insert %d tickets: %w", len(inserted), err)
	}
	if len(ids) < len(inserted) {
		return errLostInsert
	}
	if err := tx.UpdateTickets(updated); err != nil {
		return fmt.Errorf("update tickets: %w", err)
	}
	if err := tx.DropUnsentSteps(overruled); err != nil {
		return fmt.Errorf("drop overruled steps: %w", err)
	}
	return nil
}

// written sorts out what the facts left to write. New tickets are sorted so that two batches with the same ones can't
// deadlock.
func (d *projection) written() (inserted, updated []Ticket, overruled []uuid.UUID) {
	for id := range d.changed {
		if !d.stored[id] {
			inserted = append(inserted, d.tickets[id])
			continue
		}
		updated = append(updated, d.tickets[id])
		if d.overruled[id] {
			overruled = append(overruled, id)
		}
	}
	slices.SortFunc(inserted, func(a, b Ticket) int { return slices.Compare(a.OrderID[:], b.OrderID[:]) })
	return inserted, updated, overruled
}
