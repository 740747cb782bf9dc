package kitchen

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
	"kuhnya/outbox"
)

// MaxReason is the longest reason of a rejection or cancellation, in characters.
const MaxReason = 500

// Change asks for an order to enter a status: a callback of its establishment, its customer's cancellation, or the
// accept time-out.
type Change struct {
	OrderID uuid.UUID
	// EstablishmentID and UserID, where they are set, must be the order's; to anybody else it does not exist.
	EstablishmentID uuid.UUID
	UserID          string
	To              lifecycle.Status
	Reason          string
	Party           lifecycle.Party
	Actor           string
	Key             idempotency.Key // of a callback, unique within its order; "" for none
	Trace           string          // traceparent of the request or record, may be empty
}

// changing is a change on its way through the batch, with the id of the fact that it may become.
type changing struct {
	Change
	factID uuid.UUID
}

// Changed is the order as it is after a change, and From the status that the change took it out of, "" if it was there
// already. Replayed says that the change was keyed and known already.
type Changed struct {
	Order    Order
	From     lifecycle.Status
	Replayed bool
}

// Change decides one change.
func (s *Service) Change(ctx context.Context, c Change) (Changed, error) {
	if err := c.check(); err != nil {
		return Changed{}, err
	}
	return do(ctx, s.changings, changing{c, newID()}, s.logChanged(ctx, c))
}

// ChangeAll decides the changes of a poll in order and returns an error for each, nil where it stands or stood before.
// After an error that is not a refusal nothing later was decided, and every later change has that error too.
func (s *Service) ChangeAll(ctx context.Context, changes []Change) []error {
	errs := make([]error, len(changes))
	var valid []changing
	var at []int
	for i, c := range changes {
		if errs[i] = c.check(); errs[i] == nil {
			valid = append(valid, changing{c, newID()})
			at = append(at, i)
		}
	}
	for i, outcome := range s.changings.DoAll(ctx, valid) {
		errs[at[i]] = outcome.Err
		s.logChanged(ctx, changes[at[i]])(outcome)
	}
	return errs
}

func (c Change) check() error {
	if target, known := lifecycle.Parse(string(c.To)); !known || target == lifecycle.Placed {
		return fault.Invalid("/status", "must be a status that follows placed")
	}
	if utf8.RuneCountInString(c.Reason) > MaxReason {
		return fault.Invalid("/reason", "must have at most %d characters", MaxReason)
	}
	return nil
}

// changeBatch decides changes in the order of their arrival, in one transaction. It is batch.Apply.
func (s *Service) changeBatch(ctx context.Context, changes []changing) (outcomes []batch.Outcome[Changed], err error) {
	err = s.store.Write(ctx, func(tx Tx) error {
		d, err := s.openRevision(tx, changes)
		if err != nil {
			return err
		}
		outcomes = batch.Each(changes, d.decide)
		if err := d.save(tx); err != nil {
			return err
		}
		for i, c := range changes {
			if outcomes[i].Err == nil {
				outcomes[i].Value.Order = d.record(c.OrderID)
			}
		}
		return nil
	})
	if err == nil {
		s.wake()
	}
	return outcomes, err
}

// revision is one batch of changes being decided over the orders that its transaction locked.
type revision struct {
	service   *Service
	now       time.Time
	orders    map[uuid.UUID]Order
	lines     map[uuid.UUID][]Line
	histories map[uuid.UUID][]Event
	stored    map[uuid.UUID]int // events of each history that the database has already
	counted   map[eventID]bool  // stored events with another delivery
	messages  []outbox.Message
	returned  map[uuid.UUID]int64 // stock to give back, by dish
}

type eventID struct {
	order uuid.UUID
	index int // in the order's history
}

// openRevision takes the row locks first and reads after: what is checked under a lock can't have changed when the
// transaction writes. Two parallel changes of one order decide one after the other.
func (s *Service) openRevision(tx Tx, changes []changing) (*revision, error) {
	ids := make([]uuid.UUID, len(changes))
	for i, c := range changes {
		ids[i] = c.OrderID
	}
	ids = distinct(ids)
	d := &revision{service: s, stored: map[uuid.UUID]int{}, counted: map[eventID]bool{}, returned: map[uuid.UUID]int64{}}
	var err error
	if d.orders, err = tx.LockOrders(ids); err != nil {
		return nil, fmt.Errorf("lock orders: %w", err)
	}
	if d.histories, err = tx.EventsOf(ids); err != nil {
		return nil, fmt.Errorf("read histories: %w", err)
	}
	if d.lines, err = tx.LinesOf(ids); err != nil {
		return nil, fmt.Errorf("read lines: %w", err)
	}
	if d.now, err = tx.Now(); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	for id, history := range d.histories {
		d.stored[id] = len(history)
	}
	return d, nil
}

// decide takes the steps of a status change in their documented order: whose order, known key or status, nothing to
// do, transition table. A nil error means that the order stands at the target or has passed it.
func (d *revision) decide(c changing) (Changed, error) {
	order, known := d.orders[c.OrderID]
	if !known || !c.concerns(order) {
		return Changed{}, fault.New(fault.NotFound, "no such order")
	}
	repeated, found, err := absorb(d.histories[c.OrderID], c.Key, c.To)
	if err != nil {
		return Changed{}, err
	}
	if found {
		d.countDelivery(eventID{c.OrderID, repeated}, c.Key)
		return Changed{Replayed: true}, nil
	}
	if order.Status == c.To {
		return Changed{}, nil
	}
	if err := lifecycle.Check(c.Party, order.Status, c.To); err != nil {
		return Changed{}, err
	}
	return Changed{From: order.Status}, d.apply(order, c)
}

func (c Change) concerns(order Order) bool {
	return (c.EstablishmentID == uuid.Nil || c.EstablishmentID == order.EstablishmentID) &&
		(c.UserID == "" || c.UserID == order.UserID)
}

func (d *revision) countDelivery(id eventID, key idempotency.Key) {
	e := &d.histories[id.order][id.index]
	e.Deliveries++
	e.LastDeliveryAt = d.now
	if e.Key == "" {
		e.Key = key
	}
	d.counted[id] = true
}

// apply moves the order on: its status, the event, the returned stock and the outbox row belong to one transaction.
func (d *revision) apply(order Order, c changing) error {
	from := order.Status
	order.Status, order.Reason, order.Seq, order.UpdatedAt = c.To, c.Reason, order.Seq+1, d.now
	message, err := d.service.statusChangedMessage(order, from, c)
	if err != nil {
		return err
	}
	d.orders[order.ID] = order
	d.messages = append(d.messages, message)
	d.histories[order.ID] = append(d.histories[order.ID], Event{
		OrderID: order.ID, Seq: order.Seq, From: from, To: c.To, Actor: c.Actor, Reason: c.Reason, Key: c.Key,
		Deliveries: 1, At: d.now, LastDeliveryAt: d.now,
	})
	if c.To.ReturnsStock() {
		d.returnStock(order.ID)
	}
	return nil
}

// returnStock gives back what the order took and nothing else: dishes that weren't counted then took nothing.
func (d *revision) returnStock(orderID uuid.UUID) {
	for _, line := range d.lines[orderID] {
		if line.Taken > 0 {
			d.returned[line.DishID] += line.Taken
		}
	}
}

func (d *revision) save(tx Tx) error {
	moved, added, counted := d.written()
	if err := tx.UpdateDeliveries(counted); err != nil {
		return fmt.Errorf("count deliveries: %w", err)
	}
	if err := tx.UpdateStatuses(moved); err != nil {
		return fmt.Errorf("update statuses: %w", err)
	}
	if err := tx.InsertEvents(added); err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	if err := tx.AddStock(d.returned); err != nil {
		return fmt.Errorf("return stock: %w", err)
	}
	return tx.AppendOutbox(d.messages)
}

// written sorts out what the decisions left to write: orders with another status, new events, and stored events with
// another delivery.
func (d *revision) written() (moved []Order, added, counted []Event) {
	for id, history := range d.histories {
		stored := d.stored[id]
		if len(history) > stored {
			moved = append(moved, d.orders[id])
			added = append(added, history[stored:]...)
		}
	}
	for id := range d.counted {
		if id.index < d.stored[id.order] {
			counted = append(counted, d.histories[id.order][id.index])
		}
	}
	return moved, added, counted
}

// record is the whole order as this batch leaves it.
func (d *revision) record(id uuid.UUID) Order {
	order := d.orders[id]
	order.Lines = d.lines[id]
	return order
}
