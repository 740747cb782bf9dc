package kitchentest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
	"kuhnya/outbox"
)

// overdue puts deadlines into the past and the future by hand: nothing waits for a clock.
func overdue(t *testing.T, w *world) {
	late := w.mustPlace(w.order("alice", "late", line(w.soup, 1)))
	w.mustPlace(w.order("alice", "early", line(w.soup, 1)))
	done := w.mustPlace(w.order("alice", "done", line(w.soup, 1)))
	w.mustChange(w.callback(done, lifecycle.Accepted, ""))
	_, err := w.service.PatchEstablishment(w.ctx, w.place.ID, kitchen.EstablishmentPatch{AcceptTimeout: new(time.Second)})
	w.must(err)
	w.mustBeOverdue()
	past := w.backdate(late)
	w.mustBeOverdue(past.ID)
	w.mustTimeOut(past)
	w.mustBeOverdue()
}

// mustBeOverdue wants these orders, and no others, to be overdue.
func (w *world) mustBeOverdue(want ...uuid.UUID) {
	w.t.Helper()
	ids, err := w.engine.Store.Overdue(w.ctx, 10)
	w.must(err)
	if !slices.Equal(ids, want) {
		w.t.Errorf("overdue: %v, want %v", ids, want)
	}
	n, err := w.engine.Store.CountOverdue(w.ctx)
	w.must(err)
	if n != int64(len(want)) {
		w.t.Errorf("%d are overdue, want %d", n, len(want))
	}
}

// backdate stores a copy of an order whose accept deadline is past.
func (w *world) backdate(order kitchen.Order) kitchen.Order {
	w.t.Helper()
	order.ID, order.Key = uuid.New(), ""
	order.AcceptDeadline = order.CreatedAt.Add(-time.Second)
	w.must(w.engine.Store.Write(w.ctx, func(tx kitchen.Tx) error {
		_, insert := tx.InsertOrders([]kitchen.Order{order})
		return errors.Join(insert,
			tx.InsertEvents([]kitchen.Event{{OrderID: order.ID, Seq: 1, To: lifecycle.Placed, Deliveries: 1, At: order.CreatedAt, LastDeliveryAt: order.CreatedAt}}),
			tx.AddStock(map[uuid.UUID]int64{w.soup: -1}),
			tx.AppendOutbox([]outbox.Message{{EventID: uuid.New(), Topic: "test.orders", Key: order.ID.String()}}))
	}))
	return order
}

// mustTimeOut rejects an order as the sweeper does.
func (w *world) mustTimeOut(order kitchen.Order) {
	w.t.Helper()
	w.must(w.service.ChangeAll(w.ctx, []kitchen.Change{{
		OrderID: order.ID, To: lifecycle.Rejected, Party: lifecycle.System, Actor: "system:" + kitchen.AcceptTimeout, Reason: kitchen.AcceptTimeout,
	}})[0])
}

func listsOrders(t *testing.T, w *world) {
	var placed []uuid.UUID
	for range 5 {
		placed = append(placed, w.mustPlace(w.order("alice", "", line(w.soup, 1), line(w.tea, 1))).ID)
	}
	w.mustPlace(w.order("bob", "k", line(w.soup, 1)))
	slices.Reverse(placed)
	var listed []uuid.UUID
	before := uuid.Nil
	for {
		page, err := w.engine.Store.Orders(w.ctx, kitchen.OrderFilter{UserID: "alice"}, before, 2)
		w.must(err)
		if len(page) == 0 {
			break
		}
		for _, order := range page {
			if len(order.Lines) != 2 {
				t.Errorf("order has %d lines", len(order.Lines))
			}
			listed, before = append(listed, order.ID), order.ID
		}
	}
	if !slices.Equal(placed, listed) {
		t.Errorf("listed %v, want %v", listed, placed)
	}
	byKey, err := w.engine.Store.Orders(w.ctx, kitchen.OrderFilter{UserID: "bob", Key: "k", EstablishmentID: w.place.ID, Status: lifecycle.Placed}, uuid.Nil, 10)
	w.must(err)
	if len(byKey) != 1 || byKey[0].UserID != "bob" {
		t.Errorf("by key: %v", byKey)
	}
}
