package establishmenttest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/internal/establishment"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

func testMerge(t *testing.T, open func(t *testing.T) establishment.Store) {
	t.Run("an order becomes a ticket, however often it is told", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := order()
		d.merge(o, o)
		first := d.ticket(o)
		d.merge(o)
		d.same("again", first, d.ticket(o))
		first.UpdatedAt = first.CreatedAt
		d.same("ticket", establishment.Ticket{
			OrderID: o.OrderID, Code: "7K3QZ", EstablishmentID: Place, Status: lifecycle.Placed,
			Lines: []establishment.Line{
				{DishID: o.Lines[0].DishID, Name: "Борщ", Quantity: 2, UnitPrice: 45000, Total: 90000},
				{DishID: o.Lines[1].DishID, Name: "Компот", Quantity: 1, UnitPrice: 12000, Total: 12000},
			},
			Comment: "no dill", Total: money.Money{Amount: 102000, Currency: money.RUB}, AcceptDeadline: o.AcceptDeadline,
			KitchenSeq: 1, Entered: []lifecycle.Status{lifecycle.Placed}, Published: true, CreatedAt: placedAt, UpdatedAt: placedAt,
		}, first)
	})

	t.Run("kitchen's accepted comes back after staff pressed start", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.press(o, lifecycle.Accept)
		d.broker.Play(Away)
		d.refused(o, lifecycle.Start, fault.PublishFailed)
		d.merge(change(o, 2, lifecycle.Accepted, ""))
		d.stands(o, lifecycle.Cooking)
		d.haveSteps(o, "+accepted", "cooking")
	})

	t.Run("kitchen's own word drops the steps that it makes needless", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(LostAnswer)
		d.refused(o, lifecycle.Accept, fault.PublishFailed)
		d.merge(change(o, 2, lifecycle.Accepted, ""))
		d.haveSteps(o)
		d.same("published", true, d.ticket(o).Published)
	})

	t.Run("a customer cancels while staff press reject", func(t *testing.T) {
		for _, script := range []string{"unsent", "sent"} {
			d := openDesk(t, open(t))
			o := d.placed()
			if script == "sent" {
				d.press(o, lifecycle.Reject)
			} else {
				d.broker.Play(Away)
				d.refused(o, lifecycle.Reject, fault.PublishFailed)
			}
			d.merge(change(o, 2, lifecycle.Cancelled, "changed my mind"))
			ticket := d.ticket(o)
			d.same(script+": status", lifecycle.Cancelled, ticket.Status)
			d.same(script+": reason", "changed my mind", ticket.Reason)
			d.same(script+": entered", []lifecycle.Status{lifecycle.Placed, lifecycle.Cancelled}, ticket.Entered)
			if script == "sent" {
				d.haveSteps(o, "+rejected")
			} else {
				d.haveSteps(o)
			}
		}
	})

	t.Run("cancelled before placed makes no open card", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := order()
		d.merge(change(o, 2, lifecycle.Cancelled, "changed my mind"))
		d.absent(o)
		d.refused(o, lifecycle.Accept, fault.NotFound)
		d.merge(o)
		ticket := d.ticket(o)
		d.same("status", lifecycle.Cancelled, ticket.Status)
		d.same("lines", 2, len(ticket.Lines))
		d.same("kitchen seq", int64(2), ticket.KitchenSeq)
		d.refused(o, lifecycle.Accept, fault.InvalidTransition)
	})

	t.Run("accepted before placed makes a card in accepted, with its lines", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := order()
		d.merge(change(o, 2, lifecycle.Accepted, ""), o)
		ticket := d.ticket(o)
		d.same("status", lifecycle.Accepted, ticket.Status)
		d.same("entered", []lifecycle.Status{lifecycle.Placed, lifecycle.Accepted}, ticket.Entered)
		d.same("lines", 2, len(ticket.Lines))
		d.same("deadline", o.AcceptDeadline, ticket.AcceptDeadline)
		d.press(o, lifecycle.Start)
		d.arrived(lifecycle.Cooking)
	})

	t.Run("accepted over HTTP wins in kitchen while the tablet presses reject", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.press(o, lifecycle.Reject)
		d.merge(change(o, 2, lifecycle.Accepted, ""))
		ticket := d.ticket(o)
		d.same("status", lifecycle.Accepted, ticket.Status)
		d.same("reason", "", ticket.Reason)
		d.press(o, lifecycle.Start)
		d.haveSteps(o, "+rejected", "+cooking")
	})

	t.Run("kitchen may be ahead", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(Away)
		d.refused(o, lifecycle.Accept, fault.PublishFailed)
		d.merge(change(o, 4, lifecycle.Ready, ""))
		d.same("entered", lifecycle.Passed(lifecycle.Ready), d.ticket(o).Entered)
		d.haveSteps(o)
	})

	t.Run("an older status changes nothing", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.merge(change(o, 3, lifecycle.Cooking, ""))
		before := d.ticket(o)
		for _, fact := range []establishment.Fact{
			change(o, 3, lifecycle.Cooking, ""), change(o, 2, lifecycle.Accepted, ""), change(o, 2, lifecycle.Rejected, "late"), o,
		} {
			d.merge(fact)
			d.same("ticket", before, d.ticket(o))
		}
	})

	t.Run("staff cancel is kept while kitchen catches up, and everything after the end is refused", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.press(o, lifecycle.Accept, lifecycle.Cancel)
		d.merge(change(o, 2, lifecycle.Accepted, ""), change(o, 3, lifecycle.Cooking, ""))
		d.stands(o, lifecycle.Cancelled)
		d.refused(o, lifecycle.Start, fault.InvalidTransition)
		d.merge(change(o, 4, lifecycle.Cancelled, "sold out"))
		d.stands(o, lifecycle.Cancelled)
	})

	t.Run("a ticket that another process inserts first is followed, not replaced", func(t *testing.T) {
		store := &outrun{Store: open(t)}
		d := openDesk(t, store)
		o := order()
		store.rival = func() { openDesk(t, store.Store).merge(o, change(o, 2, lifecycle.Accepted, "")) }
		d.merge(o)
		d.stands(o, lifecycle.Accepted)
	})

	t.Run("a fact without sense is refused and harms no neighbour", func(t *testing.T) {
		d := openDesk(t, open(t))
		o, p := order(), order()
		errs := d.service.Merge(d.ctx, []establishment.Fact{
			o, establishment.Placed{}, change(o, 2, "burnt", ""), change(o, 2, lifecycle.Placed, ""), change(o, 1, lifecycle.Accepted, ""),
			establishment.Changed{To: lifecycle.Accepted, Seq: 2}, p,
		})
		for i, err := range errs {
			if want := i > 0 && i < 6; want != (fault.CodeOf(err) == fault.InvalidRequest) {
				t.Errorf("fact %d: %v", i, err)
			}
		}
		d.stands(o, lifecycle.Placed)
		d.stands(p, lifecycle.Placed)
	})

	t.Run("nothing is applied after a store that fails", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := order()
		closed := d.service
		if err := closed.Close(d.ctx); err != nil {
			t.Fatal(err)
		}
		for _, err := range closed.Merge(d.ctx, []establishment.Fact{o, change(o, 2, lifecycle.Accepted, "")}) {
			if !errors.Is(err, batch.ErrClosed) {
				t.Errorf("merge: %v, want ErrClosed", err)
			}
		}
		d.absent(o)
	})
}

// outrun is a store that sees no ticket at first, while a rival commits what it is about to insert.
type outrun struct {
	establishment.Store
	rival func()
}

func (s *outrun) Write(ctx context.Context, f func(establishment.Tx) error) error {
	rival := s.rival
	s.rival = nil
	if rival != nil {
		rival()
	}
	return s.Store.Write(ctx, func(tx establishment.Tx) error { return f(outrunTx{tx, rival != nil}) })
}

type outrunTx struct {
	establishment.Tx
	blind bool
}

func (t outrunTx) LockTickets(ids []uuid.UUID) (map[uuid.UUID]establishment.Ticket, error) {
	if t.blind {
		return map[uuid.UUID]establishment.Ticket{}, nil
	}
	return t.Tx.LockTickets(ids)
}

// absent expects the order to be unknown to staff.
func (d *desk) absent(o establishment.Placed) {
	d.Helper()
	if _, found, err := d.store.Ticket(d.ctx, o.OrderID); err != nil || found {
		d.Errorf("ticket found %v, %v", found, err)
	}
	tickets, err := d.store.Tickets(d.ctx, establishment.TicketFilter{EstablishmentID: Place}, uuid.Nil, 100)
	if err != nil {
		d.Fatalf("list tickets: %v", err)
	}
	for _, ticket := range tickets {
		if ticket.OrderID == o.OrderID {
			d.Errorf("ticket is listed")
		}
	}
}
