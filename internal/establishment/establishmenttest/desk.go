package establishmenttest

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/database"
	"kuhnya/internal/establishment"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/internal/trace"
)

// Place is the establishment of all orders in the tests.
var Place = uuid.MustParse("01920000-0000-7000-8000-0000000000e5")

var placedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tb is what a desk needs of a test, be it an example or a property.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// desk is a service with its broker and the moves of a test.
type desk struct {
	tb
	ctx     context.Context
	store   establishment.Store
	broker  *Broker
	service *establishment.Service
	sweeper *establishment.Sweeper
}

func openDesk(t *testing.T, store establishment.Store) *desk {
	broker := &Broker{}
	service := establishment.New(store, establishment.Options{
		Topics: event.Topics{Prefix: "test."}, Publisher: broker, Classify: database.BatchClass, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		if err := service.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &desk{
		tb: t, ctx: context.Background(), store: store, broker: broker, service: service,
		sweeper: establishment.NewSweeper(service, establishment.SweepOptions{}),
	}
}

// order returns the fact of a new order.
func order() establishment.Placed {
	id := uuid.Must(uuid.NewV7())
	rub := func(amount int64) money.Money { return money.Money{Amount: amount, Currency: money.RUB} }
	return establishment.Placed{
		OrderID: id, Code: "7K3QZ", UserID: "alice", EstablishmentID: Place, Seq: 1, Status: lifecycle.Placed,
		Lines: []event.OrderLine{
			{DishID: uuid.MustParse("01920000-0000-7000-8000-0000000000d1"), Name: "Борщ", Quantity: 2, UnitPrice: rub(45000), Total: rub(90000)},
			{DishID: uuid.MustParse("01920000-0000-7000-8000-0000000000d2"), Name: "Компот", Quantity: 1, UnitPrice: rub(12000), Total: rub(12000)},
		},
		Total: rub(102000), Comment: "no dill", AcceptDeadline: placedAt.Add(10 * time.Minute), PlacedAt: placedAt,
	}
}

// change returns the fact that an order entered a status.
func change(o establishment.Placed, seq int64, to lifecycle.Status, reason string) establishment.Changed {
	return establishment.Changed{
		OrderID: o.OrderID, EstablishmentID: o.EstablishmentID, UserID: o.UserID, Seq: seq, To: to, Reason: reason,
		Total: o.Total, PlacedAt: o.PlacedAt, At: o.PlacedAt.Add(time.Duration(seq) * time.Minute),
	}
}

// placed merges a new order and returns it.
func (d *desk) placed() establishment.Placed {
	d.Helper()
	o := order()
	d.merge(o)
	return o
}

func (d *desk) merge(facts ...establishment.Fact) {
	d.Helper()
	for i, err := range d.service.Merge(d.ctx, facts) {
		if err != nil {
			d.Fatalf("merge fact %d: %v", i, err)
		}
	}
}

func (d *desk) advance(o establishment.Placed, action lifecycle.Action) (establishment.Ticket, error) {
	press := establishment.Press{OrderID: o.OrderID, EstablishmentID: o.EstablishmentID, Action: action, Trace: trace.New()}
	if action.NeedsReason() {
		press.Reason = "sold out"
	}
	return d.service.Advance(d.ctx, press)
}

// press expects the button to work.
func (d *desk) press(o establishment.Placed, actions ...lifecycle.Action) (ticket establishment.Ticket) {
	d.Helper()
	for _, action := range actions {
		var err error
		if ticket, err = d.advance(o, action); err != nil {
			d.Fatalf("%s: %v", action, err)
		}
	}
	return ticket
}

// refused expects the button to answer with a code.
func (d *desk) refused(o establishment.Placed, action lifecycle.Action, code fault.Code) establishment.Ticket {
	d.Helper()
	ticket, err := d.advance(o, action)
	if fault.CodeOf(err) != code {
		d.Fatalf("%s: %v, want %s", action, err, code)
	}
	return ticket
}

func (d *desk) ticket(o establishment.Placed) establishment.Ticket {
	d.Helper()
	ticket, found, err := d.store.Ticket(d.ctx, o.OrderID)
	if err != nil || !found {
		d.Fatalf("read ticket: found %v, %v", found, err)
	}
	return ticket
}

// stands expects the ticket at a status.
func (d *desk) stands(o establishment.Placed, status lifecycle.Status) {
	d.Helper()
	if ticket := d.ticket(o); ticket.Status != status {
		d.Errorf("ticket is %s, want %s", ticket.Status, status)
	}
}

func (d *desk) steps(o establishment.Placed) (steps []establishment.Step) {
	d.Helper()
	err := d.store.Write(d.ctx, func(tx establishment.Tx) error {
		all, err := tx.StepsOf([]uuid.UUID{o.OrderID})
		steps = all[o.OrderID]
		return err
	})
	if err != nil {
		d.Fatalf("read steps: %v", err)
	}
	return steps
}

// haveSteps expects the order's steps: a status for each, with "+" in front where it is sent.
func (d *desk) haveSteps(o establishment.Placed, want ...string) {
	d.Helper()
	var got []string
	for i, step := range d.steps(o) {
		sent := ""
		if step.SentAt != nil {
			sent = "+"
		}
		got = append(got, sent+string(step.Status))
		if step.No != int64(i+1) {
			d.Errorf("step %d has number %d", i+1, step.No)
		}
	}
	d.same("steps", want, got)
}

// arrived expects the statuses that came to the broker since the last look, and returns the records.
func (d *desk) arrived(want ...lifecycle.Status) []Record {
	d.Helper()
	records := d.broker.Take()
	got := make([]lifecycle.Status, len(records))
	for i, r := range records {
		got[i] = r.Status
		if key := r.OrderID.String() + ":" + string(r.Status); r.Key != key {
			d.Errorf("idempotency key %q, want %q", r.Key, key)
		}
	}
	if !slices.Equal(got, want) {
		d.Fatalf("broker got %v, want %v", got, want)
	}
	return records
}

func (d *desk) same(what string, want, got any) {
	d.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
