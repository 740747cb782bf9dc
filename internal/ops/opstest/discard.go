package opstest

import (
	"strings"
	"sync/atomic"
	"testing"

	"kuhnya/internal/fault"
	"kuhnya/internal/ops"
)

func keepsFirstReason(t *testing.T, w *world) {
	id := w.save(record()).ID
	for _, reason := range []string{"first", "second"} {
		letter, err := w.rules.Discard(w.Context(), id, reason)
		w.must(err)
		if letter.State != ops.Discarded || letter.Reason != "first" {
			t.Errorf("%s for %q", letter.State, letter.Reason)
		}
	}
	w.mustStandAt(id, ops.Discarded, "first")
}

func refusesRedriven(_ *testing.T, w *world) {
	id := w.save(record()).ID
	w.mustRedrive(id)
	_, err := w.rules.Discard(w.Context(), id, "too late")
	w.mustRefuse(err, fault.InvalidTransition)
	w.mustStandAt(id, ops.Redriven, "")
}

func wantsReason(_ *testing.T, w *world) {
	id := w.save(record()).ID
	for _, reason := range []string{"", " \n", strings.Repeat("ё", ops.MaxReason+1)} {
		_, err := w.rules.Discard(w.Context(), id, reason)
		w.mustRefuse(err, fault.InvalidRequest)
	}
	w.mustStandAt(id, ops.Open, "")
	longest := strings.Repeat("ё", ops.MaxReason)
	_, err := w.rules.Discard(w.Context(), id, longest)
	w.must(err)
	w.mustStandAt(id, ops.Discarded, longest)
}

func oneWins(t *testing.T, w *world) {
	for range 10 {
		id := w.save(record()).ID
		before := len(w.sent())
		var won atomic.Int64
		inParallel(2, func(i int) {
			var err error
			if i == 0 {
				_, err = w.rules.Redrive(t.Context(), id)
			} else {
				_, err = w.rules.Discard(t.Context(), id, "reason")
			}
			if err == nil {
				won.Add(1)
			}
		})
		letter, _, err := w.engine.Store.DeadLetter(t.Context(), id)
		w.must(err)
		sent := len(w.sent()) - before
		if won.Load() != 1 || (sent == 1) != (letter.State == ops.Redriven) {
			t.Fatalf("%d won, %d sent, dead letter %s", won.Load(), sent, letter.State)
		}
	}
}
