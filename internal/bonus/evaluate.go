package bonus

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/internal/fault"
	"kuhnya/internal/money"
)

// Completed is an order that was completed.
type Completed struct {
	OrderID         uuid.UUID
	UserID          string
	EstablishmentID uuid.UUID
	Total           money.Money
	PlacedAt        time.Time
	Trace           string // traceparent of the record, may be empty
}

// Evaluation is what was decided about a completed order, once.
type Evaluation struct {
	OrderID     uuid.UUID
	UserID      string
	Total       money.Money
	PlacedAt    time.Time
	EvaluatedAt time.Time
	Lines       []EvaluationLine
}

// EvaluationLine is one campaign that the order matched, with the version that was in force when it was placed.
type EvaluationLine struct {
	CampaignID uuid.UUID
	Version    int64
	Points     int64
}

// Evaluate decides about the completed orders of a poll in order and returns an error for each, nil where it is decided
// or was before. After an error that is not a refusal nothing later was decided, and every later order has that error too.
func (s *Service) Evaluate(ctx context.Context, orders []Completed) []error {
	errs := make([]error, len(orders))
	for i, outcome := range s.evaluations.DoAll(ctx, orders) {
		errs[i] = refusal(outcome.Err)
		s.logEvaluated(ctx, orders[i], outcome)
	}
	return errs
}

// evaluated is what became of an order in a batch. The points are what it earned if it was evaluated here, and not before.
type evaluated struct {
	here   bool
	points int64
}

func (o Completed) check() error {
	switch {
	case o.OrderID == uuid.Nil || o.EstablishmentID == uuid.Nil:
		return fault.New(fault.InvalidRequest, "a completed order needs order_id and establishment_id")
	case !isUserID(o.UserID):
		return fault.New(fault.InvalidRequest, "user_id of an order is 1 to %d visible ASCII characters", maxUserID)
	case !money.IsCurrency(o.Total.Currency) || o.Total.Amount < 0:
		return fault.New(fault.InvalidRequest, "the total of an order is an amount that is not negative, in an ISO 4217 currency")
	case o.PlacedAt.IsZero():
		return fault.New(fault.InvalidRequest, "a completed order needs placed_at")
	}
	return nil
}

// evaluateBatch decides about orders in one transaction. It is batch.Apply. An order whose points can't be booked fails
// the transaction, and then the batch alone: its evaluation must not remain.
func (s *Service) evaluateBatch(ctx context.Context, orders []Completed) (outcomes []batch.Outcome[evaluated], err error) {
	err = s.store.Write(ctx, func(tx Tx) error {
		outcomes = make([]batch.Outcome[evaluated], len(orders))
		var valid []Completed
		for i, o := range orders {
			if outcomes[i].Err = o.check(); outcomes[i].Err == nil {
				valid = append(valid, o)
			}
		}
		earned, err := s.evaluate(tx, valid)
		for i, o := range orders {
			points, here := earned[o.OrderID]
			outcomes[i].Value = evaluated{here: here, points: points}
			delete(earned, o.OrderID) // an order that is there twice was evaluated once
		}
		return err
	})
	if err == nil {
		s.wake()
	}
	return outcomes, err
}

// evaluate returns what those of the orders earned that had not been evaluated before.
func (s *Service) evaluate(tx Tx, orders []Completed) (earned map[uuid.UUID]int64, err error) {
	now, err := tx.Now()
	if err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	opened, err := openEvaluations(tx, orders, now)
	if err != nil || len(opened) == 0 {
		return nil, err
	}
	evaluations, err := assess(tx, opened, now)
	if err != nil {
		return nil, err
	}
	if err := tx.InsertEvaluationLines(evaluations); err != nil {
		return nil, fmt.Errorf("insert evaluation lines: %w", err)
	}
	booked, err := s.bookLines(tx, opened, evaluations)
	if err != nil {
		return nil, err
	}
	if err := booked.takeBusinessKeys(tx); err != nil {
		return nil, err
	}
	return booked.earned(evaluations), booked.post(tx)
}

// openEvaluations inserts the evaluations of those orders that have none, and returns these orders: only the transaction
// that inserted its evaluation decides what an order earns, so a record that comes again decides nothing anew.
func openEvaluations(tx Tx, orders []Completed, now time.Time) ([]Completed, error) {
	first := map[uuid.UUID]Completed{}
	for _, o := range orders {
		if _, twice := first[o.OrderID]; !twice {
			first[o.OrderID] = o
		}
	}
	if len(first) == 0 {
		return nil, nil
	}
	// Sorted, so that two batches with the same orders insert them in the same order and can't deadlock.
	evaluations := make([]Evaluation, 0, len(first))
	for _, id := range slices.SortedFunc(maps.Keys(first), compareIDs) {
		evaluations = append(evaluations, first[id].evaluation(now))
	}
	inserted, err := tx.InsertEvaluations(evaluations)
	if err != nil {
		return nil, fmt.Errorf("insert %d evaluations: %w", len(evaluations), err)
	}
	opened := make([]Completed, len(inserted))
	for i, id := range inserted {
		opened[i] = first[id]
	}
	return opened, nil
}

func (o Completed) evaluation(now time.Time) Evaluation {
	return Evaluation{OrderID: o.OrderID, UserID: o.UserID, Total: o.Total, PlacedAt: o.PlacedAt, EvaluatedAt: now}
}

// assess returns the evaluations of orders with the campaigns that each of them matches.
func assess(tx Tx, orders []Completed, now time.Time) ([]Evaluation, error) {
	byTime := func(a, b Completed) int { return a.PlacedAt.Compare(b.PlacedAt) }
	versions, err := tx.Versions(slices.MinFunc(orders, byTime).PlacedAt, slices.MaxFunc(orders, byTime).PlacedAt)
	if err != nil {
		return nil, fmt.Errorf("read campaigns: %w", err)
	}
	evaluations := make([]Evaluation, len(orders))
	for i, o := range orders {
		evaluations[i] = o.evaluation(now)
		for _, v := range inForce(versions, o.PlacedAt) {
			if points := v.earned(o); points > 0 {
				evaluations[i].Lines = append(evaluations[i].Lines, EvaluationLine{v.CampaignID, v.No, points})
			}
		}
	}
	return evaluations, nil
}

// inForce returns the version of each campaign that was in force at a moment: the newest that was valid by then. What
// came into force later doesn't count, whenever the order is completed.
func inForce(versions []Version, at time.Time) []Version {
	newest := map[uuid.UUID]Version{}
	for _, v := range versions {
		if !v.ValidFrom.After(at) && v.No > newest[v.CampaignID].No {
			newest[v.CampaignID] = v
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b Version) int { return compareIDs(a.CampaignID, b.CampaignID) })
}

// earned is the points that an order earns under the terms, 0 if it doesn't match them.
func (t Terms) earned(o Completed) int64 {
	switch {
	case !t.Active,
		o.PlacedAt.Before(t.StartsAt) || t.EndsAt != nil && !o.PlacedAt.Before(*t.EndsAt),
		t.EstablishmentID != nil && *t.EstablishmentID != o.EstablishmentID,
		o.Total.Amount < t.MinOrder:
		return 0
	}
	return t.points(o.Total)
}

// bookLines books an accrual for each line, unless there is one under its business key: that one stands, whatever its
// points.
func (s *Service) bookLines(tx Tx, orders []Completed, evaluations []Evaluation) (*booking, error) {
	var keys []BusinessKey
	for _, e := range evaluations {
		for _, line := range e.Lines {
			keys = append(keys, BusinessKey{e.UserID, line.CampaignID, e.OrderID})
		}
	}
	standing, err := tx.AccrualsByBusinessKey(keys)
	if err != nil {
		return nil, fmt.Errorf("look up business keys: %w", err)
	}
	booked := &booking{service: s}
	for i, e := range evaluations {
		for _, line := range e.Lines {
			key := BusinessKey{e.UserID, line.CampaignID, e.OrderID}
			if _, stands := standing[key]; stands {
				continue
			}
			ids := newIDs()
			a := Accrual{ID: ids.accrual, BusinessKey: key, Points: line.Points, Origin: FromEvent, CreatedAt: e.EvaluatedAt}
			if err := booked.add(a, ids, orders[i].Trace); err != nil {
				return nil, err
			}
		}
	}
	return booked, nil
}
