package establishmenttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/establishment"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/internal/trace"
)

func testStore(t *testing.T, open func(t *testing.T) establishment.Store) {
	t.Run("a ticket comes back as it was written", func(t *testing.T) {
		f := fixture{t, open(t)}
		shown, hidden := ticket(lifecycle.Accepted), ticket(lifecycle.Cancelled)
		hidden.Hidden, hidden.Lines, hidden.AcceptDeadline = true, []establishment.Line{}, time.Time{}
		f.insert(shown, hidden)
		f.same("locked", map[uuid.UUID]establishment.Ticket{shown.OrderID: shown, hidden.OrderID: hidden},
			f.lock(shown.OrderID, hidden.OrderID, uuid.Must(uuid.NewV7())))
		f.same("read", []establishment.Ticket{shown}, f.read(shown.OrderID, hidden.OrderID))

		changed := ticket(lifecycle.Rejected)
		changed.OrderID = shown.OrderID
		f.write(func(tx establishment.Tx) error { return tx.UpdateTickets([]establishment.Ticket{changed}) })
		f.same("updated", []establishment.Ticket{changed}, f.read(shown.OrderID))
	})

	t.Run("an insert leaves out what exists", func(t *testing.T) {
		f := fixture{t, open(t)}
		first, second := ticket(lifecycle.Placed), ticket(lifecycle.Placed)
		f.insert(first)
		rival := first
		rival.Status = lifecycle.Ready
		f.write(func(tx establishment.Tx) error {
			inserted, err := tx.InsertTickets([]establishment.Ticket{rival, second})
			f.same("inserted", []uuid.UUID{second.OrderID}, inserted)
			return err
		})
		f.same("kept", []establishment.Ticket{first}, f.read(first.OrderID))
	})

	t.Run("nothing remains of a transaction that failed", func(t *testing.T) {
		f := fixture{t, open(t)}
		k, failure := ticket(lifecycle.Placed), errors.New("no")
		err := f.store.Write(t.Context(), func(tx establishment.Tx) error {
			if _, err := tx.InsertTickets([]establishment.Ticket{k}); err != nil {
				return err
			}
			return failure
		})
		if !errors.Is(err, failure) {
			t.Errorf("write: %v, want the error of its function", err)
		}
		f.same("read", []establishment.Ticket(nil), f.read(k.OrderID))
	})

	t.Run("exactly the named steps are marked, once", func(t *testing.T) {
		f := fixture{t, open(t)}
		k := ticket(lifecycle.Cooking)
		f.insert(k)
		steps := f.insertSteps(k, lifecycle.Accepted, lifecycle.Cooking)
		f.mark(k.UpdatedAt, steps[0].EventID, uuid.Must(uuid.NewV7()))
		f.mark(k.UpdatedAt.Add(time.Hour), steps[0].EventID)
		steps[0].SentAt = &k.UpdatedAt
		f.same("steps", steps, f.steps(k))
		f.same("unsent", steps[1:], f.unsent(k))
		k.Published = false
		f.same("ticket", []establishment.Ticket{k}, f.read(k.OrderID))
		f.mark(k.UpdatedAt, steps[1].EventID)
		k.Published = true
		f.same("ticket", []establishment.Ticket{k}, f.read(k.OrderID))
	})

	t.Run("only unsent steps are dropped, of the named tickets only", func(t *testing.T) {
		f := fixture{t, open(t)}
		k, other := ticket(lifecycle.Cooking), ticket(lifecycle.Accepted)
		f.insert(k, other)
		steps, others := f.insertSteps(k, lifecycle.Accepted, lifecycle.Cooking), f.insertSteps(other, lifecycle.Accepted)
		f.mark(k.UpdatedAt, steps[0].EventID)
		f.write(func(tx establishment.Tx) error { return tx.DropUnsentSteps([]uuid.UUID{k.OrderID}) })
		steps[0].SentAt = &k.UpdatedAt
		f.same("steps", steps[:1], f.steps(k))
		f.same("steps of the other", others, f.steps(other))
	})

	t.Run("tickets with old unsent steps, the oldest first", func(t *testing.T) { testUnsent(t, open) })
	t.Run("tickets are listed page by page", func(t *testing.T) { testTickets(t, open) })
}

func testUnsent(t *testing.T, open func(t *testing.T) establishment.Store) {
	f := fixture{t, open(t)}
	minutesOld := map[int]establishment.Ticket{}
	for _, minutes := range []int{1, 30, 10} {
		k := ticket(lifecycle.Cooking)
		f.insert(k)
		f.write(func(tx establishment.Tx) error {
			now, err := tx.Now()
			if err != nil {
				return err
			}
			old, young := step(k, 1, lifecycle.Accepted), step(k, 2, lifecycle.Cooking)
			old.CreatedAt, young.CreatedAt = now.Add(-time.Duration(minutes)*time.Minute), now
			return tx.InsertSteps([]establishment.Step{old, young})
		})
		minutesOld[minutes] = k
	}
	done := ticket(lifecycle.Accepted)
	f.insert(done)
	f.mark(done.UpdatedAt, f.insertSteps(done, lifecycle.Accepted)[0].EventID)

	for _, c := range []struct {
		age   time.Duration
		limit int
		want  []int
	}{
		{0, 10, []int{30, 10, 1}}, {5 * time.Minute, 10, []int{30, 10}}, {0, 1, []int{30}}, {time.Hour, 10, nil},
	} {
		var want []uuid.UUID
		for _, minutes := range c.want {
			want = append(want, minutesOld[minutes].OrderID)
		}
		got, err := f.store.Unsent(t.Context(), c.age, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		f.same("unsent for "+c.age.String(), want, got)
	}
	backlog, err := f.store.Backlog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.same("unsent steps", int64(6), backlog.Steps)
	if backlog.OldestAge < 30*time.Minute || backlog.OldestAge > time.Hour {
		t.Errorf("oldest unsent step is %v old, want some 30m", backlog.OldestAge)
	}
}

func testTickets(t *testing.T, open func(t *testing.T) establishment.Store) {
	f := fixture{t, open(t)}
	elsewhere := uuid.Must(uuid.NewV7())
	var tickets []establishment.Ticket
	for i, status := range []lifecycle.Status{lifecycle.Placed, lifecycle.Accepted, lifecycle.Placed, lifecycle.Placed, lifecycle.Placed} {
		k := ticket(status)
		k.Hidden = i == 2
		if i == 3 {
			k.EstablishmentID = elsewhere
		}
		tickets = append(tickets, k)
	}
	f.insert(tickets...)
	none := uuid.Nil
	for name, c := range map[string]struct {
		filter establishment.TicketFilter
		after  uuid.UUID
		limit  int
		want   []int
	}{
		"all":            {establishment.TicketFilter{}, none, 10, []int{4, 3, 1, 0}},
		"first page":     {establishment.TicketFilter{}, none, 2, []int{4, 3}},
		"second page":    {establishment.TicketFilter{}, tickets[3].OrderID, 2, []int{1, 0}},
		"establishment":  {establishment.TicketFilter{EstablishmentID: Place}, none, 10, []int{4, 1, 0}},
		"status":         {establishment.TicketFilter{Status: lifecycle.Accepted}, none, 10, []int{1}},
		"both":           {establishment.TicketFilter{EstablishmentID: elsewhere, Status: lifecycle.Placed}, none, 10, []int{3}},
		"oldest first":   {establishment.TicketFilter{OldestFirst: true}, none, 2, []int{0, 1}},
		"oldest, second": {establishment.TicketFilter{OldestFirst: true}, tickets[1].OrderID, 10, []int{3, 4}},
	} {
		var want []establishment.Ticket
		for _, i := range c.want {
			want = append(want, tickets[i])
		}
		got, err := f.store.Tickets(t.Context(), c.filter, c.after, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		f.same(name, want, got)
	}
}

// fixture is a store without rules around it.
type fixture struct {
	*testing.T
	store establishment.Store
}

func ticket(status lifecycle.Status) establishment.Ticket {
	return establishment.Ticket{
		OrderID: uuid.Must(uuid.NewV7()), Code: "7K3QZ", EstablishmentID: Place, Status: status, Reason: "why " + string(status),
		Lines:   []establishment.Line{{DishID: uuid.Must(uuid.NewV7()), Name: "Борщ \"№1\"", Quantity: 3, UnitPrice: 1, Total: 1 << 62}},
		Comment: "комментарий", Total: money.Money{Amount: 1 << 62, Currency: money.RUB}, AcceptDeadline: placedAt.Add(time.Minute),
		KitchenSeq: 7, Entered: lifecycle.Passed(status), Published: true, CreatedAt: placedAt, UpdatedAt: placedAt.Add(time.Microsecond),
	}
}

func step(k establishment.Ticket, no int64, status lifecycle.Status) establishment.Step {
	return establishment.Step{
		OrderID: k.OrderID, EstablishmentID: k.EstablishmentID, No: no, Status: status, Reason: "why", Key: "key",
		EventID: uuid.Must(uuid.NewV7()), Trace: trace.New(), CreatedAt: k.UpdatedAt,
	}
}

func (f fixture) write(do func(tx establishment.Tx) error) {
	f.Helper()
	if err := f.store.Write(context.Background(), do); err != nil {
		f.Fatalf("write: %v", err)
	}
}

func (f fixture) insert(tickets ...establishment.Ticket) {
	f.Helper()
	f.write(func(tx establishment.Tx) error {
		inserted, err := tx.InsertTickets(tickets)
		f.same("inserted", len(tickets), len(inserted))
		return err
	})
}

func (f fixture) insertSteps(k establishment.Ticket, statuses ...lifecycle.Status) (steps []establishment.Step) {
	f.Helper()
	for i, status := range statuses {
		steps = append(steps, step(k, int64(i+1), status))
	}
	f.write(func(tx establishment.Tx) error { return tx.InsertSteps(steps) })
	return steps
}

func (f fixture) mark(at time.Time, eventIDs ...uuid.UUID) {
	f.Helper()
	f.write(func(tx establishment.Tx) error { return tx.MarkSent(eventIDs, at) })
}

func (f fixture) lock(ids ...uuid.UUID) (tickets map[uuid.UUID]establishment.Ticket) {
	f.Helper()
	f.write(func(tx establishment.Tx) (err error) {
		tickets, err = tx.LockTickets(ids)
		return err
	})
	return tickets
}

func (f fixture) steps(k establishment.Ticket) (steps []establishment.Step) {
	f.Helper()
	f.write(func(tx establishment.Tx) error {
		all, err := tx.StepsOf([]uuid.UUID{k.OrderID})
		steps = all[k.OrderID]
		return err
	})
	return steps
}

func (f fixture) unsent(k establishment.Ticket) []establishment.Step {
	f.Helper()
	steps, err := f.store.StepsToSend(context.Background(), k.OrderID)
	if err != nil {
		f.Fatalf("read unsent steps: %v", err)
	}
	return steps
}

func (f fixture) read(ids ...uuid.UUID) (tickets []establishment.Ticket) {
	f.Helper()
	for _, id := range ids {
		k, found, err := f.store.Ticket(context.Background(), id)
		if err != nil {
			f.Fatalf("read ticket: %v", err)
		}
		if found {
			tickets = append(tickets, k)
		}
	}
	return tickets
}

func (f fixture) same(what string, want, got any) {
	f.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
