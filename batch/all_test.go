package batch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"kuhnya/batch"
)

// inBackground runs DoAll in a goroutine; the channel gets its outcomes.
func inBackground(ctx context.Context, g *batch.Group[int, int], reqs []int) <-chan []batch.Outcome[int] {
	outcomes := make(chan []batch.Outcome[int], 1)
	go func() { outcomes <- g.DoAll(ctx, reqs) }()
	return outcomes
}

func TestDoAll(t *testing.T) {
	t.Run("answers in order, slice after slice", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newGated()
			g := batch.New(store.apply, batch.Options[int, int]{Workers: 4})
			all := inBackground(t.Context(), g, upTo(300))
			for _, sizes := range [][]int{{128}, {128, 128}, {128, 128, 44}} {
				synctest.Wait()
				diff(t, "sizes", sizes, store.sizes()) // nothing runs beside an undecided slice
				store.commit <- struct{}{}
			}
			diff(t, "outcomes", echo(upTo(300)), <-all)
			diff(t, "outcomes of nothing", []batch.Outcome[int]{}, g.DoAll(t.Context(), nil))
			closeGroup(t, g)
		})
	})

	t.Run("waits for room, and single requests don't overtake", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, answers := newGated(), decided{}
			g := batch.New(store.apply, batch.Options[int, int]{MaxBatch: 4, MaxQueue: 6})
			answers.submit(t, g, 1)
			synctest.Wait()
			answers.submit(t, g, 2, 3, 4)
			all := inBackground(t.Context(), g, []int{10, 11, 12, 13})
			synctest.Wait()
			if _, err := g.Do(t.Context(), 5); !errors.Is(err, batch.ErrQueueFull) {
				t.Errorf("single request behind a waiting slice: %v, want ErrQueueFull", err)
			}
			close(store.commit)
			diff(t, "outcomes", echo([]int{10, 11, 12, 13}), <-all)
			closeGroup(t, g)
			diff(t, "batches", [][]int{{1}, {2, 3, 4}, {10, 11, 12, 13}}, store.batches)
		})
	})

	t.Run("never splits a slice over two batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, answers := newGated(), decided{}
			g := batch.New(store.apply, batch.Options[int, int]{MaxBatch: 4})
			answers.submit(t, g, 1)
			synctest.Wait()
			answers.submit(t, g, 2)
			all := inBackground(t.Context(), g, []int{10, 11, 12, 13, 14})
			synctest.Wait()
			answers.submit(t, g, 3)
			close(store.commit)
			<-all
			closeGroup(t, g)
			diff(t, "batches", [][]int{{1}, {2}, {10, 11, 12, 13}, {3}, {14}}, store.batches)
		})
	})

	t.Run("goes on after refusals and stops at a failed run", func(t *testing.T) {
		runs, outcomes := decideTogether(t, upTo(6), batch.Options[int, int]{MaxBatch: 2}, func(reqs []int) error {
			return map[int]error{0: errSingle, 2: errFailed}[reqs[0]]
		})
		diff(t, "runs", [][]int{{0, 1}, {0}, {1}, {2, 3}}, runs)
		diff(t, "outcomes", []string{"own", "ok", "run", "run", "run", "run"}, summary(outcomes))
		if outcomes[5].Err != outcomes[2].Err {
			t.Errorf("error of the rest %v, of the failed %v", outcomes[5].Err, outcomes[2].Err)
		}
	})

	t.Run("leaves when its context ends, in flight and in front of a full queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newGated()
			g := batch.New(store.apply, batch.Options[int, int]{MaxBatch: 2, MaxQueue: 2})
			ctx, cancel := context.WithCancel(t.Context())
			inFlight := inBackground(ctx, g, []int{1, 2, 3})
			synctest.Wait()
			queued := inBackground(ctx, g, []int{4})
			synctest.Wait()
			waiting := inBackground(ctx, g, []int{5, 6})
			synctest.Wait()
			behind := inBackground(t.Context(), g, []int{7}) // fits as soon as 5 and 6 are out of the way
			synctest.Wait()
			cancel()
			for _, outcomes := range []<-chan []batch.Outcome[int]{inFlight, queued, waiting} {
				for _, o := range <-outcomes {
					diff(t, "outcome", []string{"run"}, summary([]batch.Outcome[int]{o}))
					wantCause(t, o, context.Canceled)
				}
			}
			synctest.Wait()
			close(store.commit)
			diff(t, "outcome behind", echo([]int{7}), <-behind)
			closeGroup(t, g)
			diff(t, "batches", [][]int{{1, 2}, {4, 7}}, store.batches)
		})
	})
}
