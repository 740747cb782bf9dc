package batch_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kuhnya/batch"
)

func TestDoThen(t *testing.T) {
	type outcomes = []batch.Outcome[int]
	want := func(t *testing.T, want, got outcomes) {
		t.Helper()
		if d := cmp.Diff(want, got, cmpopts.EquateErrors()); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
	}

	t.Run("tells a caller who waits before it returns", func(t *testing.T) {
		var told outcomes
		g := batch.New(func(_ context.Context, reqs []int) (outcomes, error) { return echo(reqs), nil }, batch.Options[int, int]{})
		defer closeGroup(t, g)
		got, err := g.DoThen(t.Context(), 7, func(o batch.Outcome[int]) { told = append(told, o) })
		if got != 7 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
		want(t, outcomes{{Value: 7}}, told)
	})

	t.Run("tells what became of a request whose caller has left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var told outcomes
			store := newGated()
			g := batch.New(store.apply, batch.Options[int, int]{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := g.DoThen(ctx, 7, func(o batch.Outcome[int]) { told = append(told, o) })
			if !errors.Is(err, context.DeadlineExceeded) || told != nil {
				t.Errorf("%v, told %v before there was a decision", err, told)
			}
			close(store.commit)
			closeGroup(t, g)
			want(t, outcomes{{Value: 7}}, told)
		})
	})

	t.Run("tells why nothing was admitted", func(t *testing.T) {
		var told outcomes
		g := batch.New(newGated().apply, batch.Options[int, int]{})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, _ = g.DoThen(ended, 1, func(o batch.Outcome[int]) { told = append(told, o) })
		closeGroup(t, g)
		_, _ = g.DoThen(t.Context(), 2, func(o batch.Outcome[int]) { told = append(told, o) })
		want(t, outcomes{{Err: context.Canceled}, {Err: batch.ErrClosed}}, told)
	})

	t.Run("tells once however close the decision and the end of waiting are", func(t *testing.T) {
		var told, applied atomic.Int64
		g := batch.New(func(_ context.Context, leave []context.CancelFunc) (outcomes, error) {
			if applied.Add(1)%2 == 0 {
				leave[0]()
			} else {
				go leave[0]()
			}
			return make(outcomes, 1), nil
		}, batch.Options[context.CancelFunc, int]{})
		const n = 2000
		for range n {
			ctx, leave := context.WithCancel(t.Context())
			_, _ = g.DoThen(ctx, leave, func(batch.Outcome[int]) { told.Add(1) })
			<-ctx.Done()
		}
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if told.Load() != n || applied.Load() != n {
			t.Errorf("%d decisions were told %d times", applied.Load(), told.Load())
		}
	})
}
