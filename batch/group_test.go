package batch_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"kuhnya/batch"
)

// gated is an Apply that echoes requests and whose commits end one by one, as the test lets them.
type gated struct {
	batches [][]int // as they began
	commit  chan struct{}
}

func newGated() *gated { return &gated{commit: make(chan struct{})} }

func (s *gated) apply(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
	s.batches = append(s.batches, reqs)
	<-s.commit
	return echo(reqs), nil
}

func (s *gated) sizes() []int {
	var sizes []int
	for _, b := range s.batches {
		sizes = append(sizes, len(b))
	}
	return sizes
}

func echo(reqs []int) []batch.Outcome[int] {
	outcomes := make([]batch.Outcome[int], len(reqs))
	for i, req := range reqs {
		outcomes[i].Value = req
	}
	return outcomes
}

// decided collects outcomes by request. It has no lock, so it is for groups of one worker.
type decided map[int][]batch.Outcome[int]

func (d decided) submit(t *testing.T, g *batch.Group[int, int], reqs ...int) {
	t.Helper()
	for _, req := range reqs {
		if err := g.Submit(req, func(o batch.Outcome[int]) { d[req] = append(d[req], o) }); err != nil {
			t.Fatalf("submit %d: %v", req, err)
		}
	}
}

func upTo(n int) []int {
	reqs := make([]int, n)
	for i := range reqs {
		reqs[i] = i
	}
	return reqs
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func closeGroup(t *testing.T, g *batch.Group[int, int]) {
	t.Helper()
	if err := g.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestGroup(t *testing.T) {
	t.Run("starts a lone request at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var batches [][]int
			g := batch.New(func(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
				batches = append(batches, reqs)
				return echo(reqs), nil
			}, batch.Options[int, int]{})
			defer closeGroup(t, g)
			start := time.Now()
			for req := range 3 {
				if got, err := g.Do(t.Context(), req); got != req || err != nil {
					t.Errorf("Do(%d) = %d, %v", req, got, err)
				}
			}
			if waited := time.Since(start); waited != 0 {
				t.Errorf("lone requests waited %v", waited)
			}
			diff(t, "batches", [][]int{{0}, {1}, {2}}, batches)
		})
	})

	t.Run("forms batches only while a commit is in flight, in order of arrival, up to the cap", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, answers := newGated(), decided{}
			g := batch.New(store.apply, batch.Options[int, int]{})
			answers.submit(t, g, -1)
			synctest.Wait() // it is in flight
			answers.submit(t, g, upTo(300)...)
			close(store.commit)
			closeGroup(t, g)
			diff(t, "sizes", []int{1, 128, 128, 44}, store.sizes())
			var order []int
			for _, b := range store.batches[1:] {
				order = append(order, b...)
			}
			diff(t, "order", upTo(300), order)
			for req, outcomes := range answers {
				diff(t, "outcomes", []batch.Outcome[int]{{Value: req}}, outcomes)
			}
		})
	})

	t.Run("refuses what exceeds the queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, answers := newGated(), decided{}
			g := batch.New(store.apply, batch.Options[int, int]{MaxQueue: 2})
			answers.submit(t, g, 1)
			synctest.Wait()
			answers.submit(t, g, 2, 3)
			if _, err := g.Do(t.Context(), 4); !errors.Is(err, batch.ErrQueueFull) {
				t.Errorf("fourth: %v, want ErrQueueFull", err)
			}
			store.commit <- struct{}{}
			synctest.Wait() // 2 and 3 are in flight now
			answers.submit(t, g, 5)
			close(store.commit)
			closeGroup(t, g)
			diff(t, "batches", [][]int{{1}, {2, 3}, {5}}, store.batches)
		})
	})

	t.Run("runs as many batches at a time as it has workers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			running, commit := make(chan int, 3), make(chan struct{})
			g := batch.New(func(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
				running <- len(reqs)
				<-commit
				return echo(reqs), nil
			}, batch.Options[int, int]{Workers: 2})
			for req := range 3 {
				if err := g.Submit(req, func(batch.Outcome[int]) {}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			if n := len(running); n != 2 {
				t.Errorf("%d batches in flight, want 2", n)
			}
			close(commit)
			closeGroup(t, g)
		})
	})

	t.Run("lets a caller leave while the request goes on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newGated()
			g := batch.New(store.apply, batch.Options[int, int]{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := g.Do(ctx, 7); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Do: %v, want DeadlineExceeded", err)
			}
			if _, err := g.Do(ctx, 8); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Do with an ended context: %v, want DeadlineExceeded", err)
			}
			close(store.commit)
			closeGroup(t, g)
			diff(t, "batches", [][]int{{7}}, store.batches)
		})
	})

	t.Run("keeps a refusal from its neighbours", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			refused := errors.New("out of stock")
			g := batch.New(func(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
				outcomes := echo(reqs)
				outcomes[0] = batch.Outcome[int]{Err: refused}
				return outcomes, nil
			}, batch.Options[int, int]{})
			defer closeGroup(t, g)
			outcomes := g.DoAll(t.Context(), []int{1, 2})
			if outcomes[0].Err != refused || outcomes[1].Err != nil || outcomes[1].Value != 2 {
				t.Errorf("outcomes %v", outcomes)
			}
		})
	})

	t.Run("reports each batch to its observer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen []batch.Stats
			g := batch.New(func(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
				time.Sleep(time.Millisecond) // of the bubble's clock
				return echo(reqs), nil
			}, batch.Options[int, int]{Observe: func(s batch.Stats) { seen = append(seen, s) }})
			g.DoAll(t.Context(), []int{1, 2, 3})
			closeGroup(t, g)
			diff(t, "stats", []batch.Stats{{Size: 3, Runs: 1, Duration: time.Millisecond}}, seen)
		})
	})

	t.Run("keeps no request alive that it has decided", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			commit := make(chan struct{})
			g := batch.New(func(_ context.Context, reqs []*[64]byte) ([]batch.Outcome[int], error) {
				<-commit
				return make([]batch.Outcome[int], len(reqs)), nil
			}, batch.Options[*[64]byte, int]{})
			var submitted []weak.Pointer[[64]byte]
			for range 5 {
				req := new([64]byte)
				submitted = append(submitted, weak.Make(req))
				if err := g.Submit(req, func(batch.Outcome[int]) {}); err != nil {
					t.Fatal(err)
				}
			}
			close(commit)
			synctest.Wait()
			runtime.GC()
			for i, req := range submitted {
				if req.Value() != nil {
					t.Errorf("request %d is still alive", i)
				}
			}
			if err := g.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
}
