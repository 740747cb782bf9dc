package kitchentest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/event"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/trace"
)

// traces are the traceparents of the facts in the outbox, each behind its order's id.
func (w *world) traces() (traces []string) {
	w.t.Helper()
	rows, err := w.engine.Outbox.Pending(w.ctx, 0, 1000)
	w.must(err)
	for _, row := range rows {
		traces = append(traces, row.Key+" "+event.Open(row.Headers).TraceParent)
	}
	return traces
}

func tellsTheTrace(t *testing.T, w *world) {
	place := w.order("alice", "k", line(w.soup, 1))
	place.Trace = trace.New()
	order := w.mustPlace(place)
	again := place
	again.Trace = trace.New()
	w.mustPlace(again)
	accept := w.callback(order, lifecycle.Accepted, "a")
	accept.Trace = trace.New()
	w.mustChange(accept)
	late := accept
	late.Trace = trace.New()
	w.mustChange(late)
	w.mustChange(w.callback(order, lifecycle.Cooking, "c"))
	var want []string
	for _, traceparent := range []string{place.Trace, accept.Trace, ""} {
		want = append(want, order.ID.String()+" "+traceparent)
	}
	if diff := cmp.Diff(want, w.traces()); diff != "" {
		t.Errorf("traces of the facts (-want +got):\n%s", diff)
	}
}

// keepsTracesApart has commands share transactions.
func keepsTracesApart(t *testing.T, w *world) {
	const n = 40
	places, changes := make([]kitchen.PlaceOrder, n), make([]kitchen.Change, n)
	inParallel(n, func(i int) {
		places[i] = w.order(fmt.Sprintf("user%d", i), "", line(w.soup, 1))
		places[i].Trace = trace.New()
		placed, err := w.service.Place(w.ctx, places[i])
		if err != nil {
			t.Error(err)
		}
		changes[i] = w.callback(placed.Order, lifecycle.Accepted, "a")
		changes[i].Trace = trace.New()
	})
	for _, err := range w.service.ChangeAll(w.ctx, changes) {
		w.must(err)
	}
	want := map[string]bool{}
	for i, c := range changes {
		want[c.OrderID.String()+" "+places[i].Trace] = true
		want[c.OrderID.String()+" "+c.Trace] = true
	}
	got := map[string]bool{}
	for _, traced := range w.traces() {
		got[traced] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("traces of the facts (-want +got):\n%s", diff)
	}
}
