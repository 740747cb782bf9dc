package batch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"kuhnya/batch"
)

func TestClose(t *testing.T) {
	t.Run("drains what is admitted and refuses the rest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, answers := newGated(), decided{}
			g := batch.New(store.apply, batch.Options[int, int]{MaxBatch: 2, MaxQueue: 2})
			answers.submit(t, g, 1)
			synctest.Wait()
			answers.submit(t, g, 2)
			waiting := inBackground(t.Context(), g, []int{3, 4})
			synctest.Wait()
			closed := make(chan error)
			go func() { closed <- g.Close(t.Context()) }()
			synctest.Wait()
			for _, o := range <-waiting {
				diff(t, "outcome", []string{"run"}, summary([]batch.Outcome[int]{o}))
				wantCause(t, o, batch.ErrClosed)
			}
			if err := g.Submit(5, nil); !errors.Is(err, batch.ErrClosed) {
				t.Errorf("submit to a closed group: %v", err)
			}
			wantCause(t, g.DoAll(t.Context(), []int{6})[0], batch.ErrClosed)
			close(store.commit)
			if err := <-closed; err != nil {
				t.Errorf("close: %v", err)
			}
			diff(t, "answers", decided{1: {{Value: 1}}, 2: {{Value: 2}}}, answers)
			closeGroup(t, g) // again
		})
	})

	t.Run("cancels the run and fails what is left when its context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			answers, runs := decided{}, 0
			g := batch.New(func(ctx context.Context, reqs []int) ([]batch.Outcome[int], error) {
				runs++
				<-ctx.Done()
				return nil, ctx.Err()
			}, batch.Options[int, int]{})
			answers.submit(t, g, 1)
			synctest.Wait()
			answers.submit(t, g, 2)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := g.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("close: %v, want DeadlineExceeded", err)
			}
			for _, req := range []int{1, 2} {
				diff(t, "outcome", []string{"run"}, summary(answers[req]))
				wantCause(t, answers[req][0], batch.ErrClosed)
			}
			diff(t, "runs", 1, runs) // what was still queued is not even tried
		})
	})

	t.Run("ends the wait for a busy database and for a lost answer", func(t *testing.T) {
		for _, verdict := range []error{errBusy, errUnknown} {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{verdict: func([]int) error { return verdict }}
				g := batch.New(s.apply, batch.Options[int, int]{
					Classify: classify,
					Resolve:  func(context.Context, []int) ([]batch.Outcome[int], error) { return nil, errFailed },
				})
				answers := decided{}
				answers.submit(t, g, 1)
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				if err := g.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("close: %v, want DeadlineExceeded", err)
				}
				if waited := time.Since(start); waited != time.Second {
					t.Errorf("closed after %v", waited)
				}
				wantCause(t, answers[1][0], verdict)
			})
		}
	})
}
