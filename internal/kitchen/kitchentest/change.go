package kitchentest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/fault"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
)

func returnsStockOnce(t *testing.T, w *world) {
	order := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
	w.mustHave(w.soup, stockOfSoup-1)
	services := []*kitchen.Service{w.service, w.newService()}
	inParallel(20, func(i int) {
		if _, err := services[i%2].Change(w.ctx, w.cancel(order)); err != nil {
			t.Error(err)
		}
	})
	w.mustHave(w.soup, stockOfSoup)
	if events := w.events(order); len(events) != 2 || events[1].Deliveries != 1 {
		t.Errorf("events: %v", events)
	}
}

func letsOneWin(t *testing.T, w *world) {
	for range 10 {
		order := w.mustPlace(w.order("alice", "", line(w.soup, 3)))
		changes := []kitchen.Change{w.cancel(order), w.callback(order, lifecycle.Rejected, "")}
		var mu sync.Mutex
		won := 0
		inParallel(2, func(i int) {
			_, err := w.service.Change(w.ctx, changes[i])
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if fault.CodeOf(err) != fault.InvalidTransition {
				t.Error(err)
			}
		})
		if won != 1 {
			t.Errorf("%d won", won)
		}
		w.mustHave(w.soup, stockOfSoup)
	}
}

func absorbsKeylessRepeats(t *testing.T, w *world) {
	order := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
	inParallel(2, func(int) {
		if _, err := w.service.Change(w.ctx, w.callback(order, lifecycle.Rejected, "")); err != nil {
			t.Error(err)
		}
	})
	w.mustHave(w.soup, stockOfSoup)
	if events := w.events(order); len(events) != 2 || events[1].Deliveries != 1 {
		t.Errorf("events: %v", events)
	}
}

func countsDeliveries(t *testing.T, w *world) {
	order := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
	accepted := w.callback(order, lifecycle.Accepted, "accepted-key")
	for range 5 {
		w.mustChange(accepted)
	}
	w.mustChange(w.callback(order, lifecycle.Cooking, "cooking-key"))
	if late, err := w.service.Change(w.ctx, accepted); err != nil || !late.Replayed || late.Order.Status != lifecycle.Cooking {
		t.Errorf("a late duplicate answers %s, replayed %v, %v", late.Order.Status, late.Replayed, err)
	}
	events := w.events(order)
	if len(events) != 3 || events[1].Deliveries != 6 || events[1].LastDeliveryAt.Before(events[2].At) {
		t.Errorf("events: %v", events)
	}
}

// knowsALateDuplicate is one story over two ways: HTTP without a key or with a key of its own, then Kafka's.
func knowsALateDuplicate(t *testing.T, w *world) {
	for _, first := range []idempotency.Key{"", "http"} {
		order := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
		w.mustChange(w.callback(order, lifecycle.Accepted, first))
		w.mustChange(w.callback(order, lifecycle.Accepted, "kafka"))
		w.mustChange(w.callback(order, lifecycle.Cooking, ""))
		w.mustChange(w.callback(order, lifecycle.Accepted, "kafka"))
		w.mustStandAt(order, lifecycle.Cooking)
		want := first
		if want == "" {
			want = "kafka" // the key moved onto the event that had none
		}
		if e := w.events(order)[1]; e.Deliveries != 3 || e.Key != want {
			t.Errorf("deliveries %d, key %q, want 3, %q", e.Deliveries, e.Key, want)
		}
	}
}

func refusesAKeyForAnotherStatus(_ *testing.T, w *world) {
	order := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
	w.mustChange(w.callback(order, lifecycle.Accepted, "x"))
	_, err := w.service.Change(w.ctx, w.callback(order, lifecycle.Cooking, "x"))
	w.mustRefuse(err, fault.IdempotencyKeyReused)
	w.mustStandAt(order, lifecycle.Accepted)
	other := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
	w.mustChange(w.callback(other, lifecycle.Accepted, "x"))
}

func refusesTransitions(_ *testing.T, w *world) {
	order := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
	w.mustChange(w.cancel(order))
	for _, key := range []idempotency.Key{"", "k"} {
		_, err := w.service.Change(w.ctx, w.callback(order, lifecycle.Accepted, key))
		w.mustRefuse(err, fault.InvalidTransition)
	}
	w.mustHave(w.soup, stockOfSoup)
	for _, to := range []lifecycle.Status{lifecycle.Placed, "eaten", ""} {
		_, err := w.service.Change(w.ctx, w.callback(order, to, ""))
		w.mustRefuse(err, fault.InvalidRequest)
	}
	w.mustStandAt(order, lifecycle.Cancelled)
}

func hidesOrders(_ *testing.T, w *world) {
	order := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
	foreign := w.callback(order, lifecycle.Accepted, "")
	foreign.EstablishmentID = uuid.New()
	stranger := w.cancel(order)
	stranger.UserID = "bob"
	unknown := w.callback(order, lifecycle.Accepted, "")
	unknown.OrderID = uuid.New()
	for _, change := range []kitchen.Change{foreign, stranger, unknown} {
		_, err := w.service.Change(w.ctx, change)
		w.mustRefuse(err, fault.NotFound)
	}
	w.mustStandAt(order, lifecycle.Placed)
}

// returnsOnlyWhatWasTaken orders tea while nobody counts it, and cancels when somebody does.
func returnsOnlyWhatWasTaken(_ *testing.T, w *world) {
	order := w.mustPlace(w.order("alice", "", line(w.tea, 2), line(w.soup, 2)))
	_, err := w.service.PatchDish(w.ctx, w.tea, w.place.ID, kitchen.DishPatch{Stock: &kitchen.StockPatch{Absolute: new(int64(10))}}, "staff:marta")
	w.must(err)
	w.mustChange(w.cancel(order))
	w.mustHave(w.tea, 10)
	w.mustHave(w.soup, stockOfSoup)
}

func decidesAPollInOrder(t *testing.T, w *world) {
	order := w.mustPlace(w.order("alice", "", line(w.soup, 1)))
	other := w.mustPlace(w.order("bob", "", line(w.soup, 1)))
	errs := w.service.ChangeAll(w.ctx, []kitchen.Change{
		w.callback(order, lifecycle.Accepted, "a"), w.callback(other, lifecycle.Cooking, "b"), w.callback(order, "eaten", "c"),
		w.callback(order, lifecycle.Cooking, "d"), w.callback(order, lifecycle.Accepted, "a"), w.callback(order, lifecycle.Ready, "e"),
	})
	var codes []fault.Code
	for _, err := range errs {
		codes = append(codes, fault.CodeOf(err))
	}
	want := []fault.Code{"", fault.InvalidTransition, fault.InvalidRequest, "", "", ""}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Error(diff)
	}
	w.mustStandAt(order, lifecycle.Ready)
	w.mustStandAt(other, lifecycle.Placed)
	if e := w.events(order)[1]; e.Deliveries != 2 {
		t.Errorf("deliveries within one batch: %d", e.Deliveries)
	}
}
