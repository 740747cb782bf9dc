package batch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kuhnya/batch"
)

var (
	errFailed  = errors.New("connection refused")
	errAgain   = errors.New("serialization failure")
	errBusy    = errors.New("database is locked")
	errSingle  = errors.New("violates check constraint")
	errUnknown = errors.New("connection lost during commit")
)

func classify(err error) batch.Class {
	classes := map[error]batch.Class{errAgain: batch.Again, errBusy: batch.Busy, errSingle: batch.Single, errUnknown: batch.Unknown}
	return classes[err] // anything else: Failed
}

// scripted is an Apply that answers by what verdict says to each run, and remembers the runs.
type scripted struct {
	runs    [][]int
	verdict func(reqs []int) error
}

func (s *scripted) apply(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
	s.runs = append(s.runs, slices.Clone(reqs))
	if err := s.verdict(reqs); err != nil {
		return nil, err
	}
	return echo(reqs), nil
}

// decideTogether has reqs decided as one batch in a bubble and returns the runs that it took and the outcomes.
func decideTogether(t *testing.T, reqs []int, o batch.Options[int, int], verdict func([]int) error) (runs [][]int, outcomes []batch.Outcome[int]) {
	o.Classify = classify
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{verdict: verdict}
		g := batch.New(s.apply, o)
		outcomes = g.DoAll(t.Context(), reqs)
		closeGroup(t, g)
		runs = s.runs
	})
	return runs, outcomes
}

// containing returns err for runs that hold req.
func containing(req int, err error) func([]int) error {
	return func(reqs []int) error {
		if slices.Contains(reqs, req) {
			return err
		}
		return nil
	}
}

// summary names the kind of each outcome: ok, own (the request's own error), or run (a RunError).
func summary(outcomes []batch.Outcome[int]) []string {
	kinds := make([]string, len(outcomes))
	for i, o := range outcomes {
		var failed *batch.RunError
		switch {
		case o.Err == nil:
			kinds[i] = "ok"
		case errors.As(o.Err, &failed):
			kinds[i] = "run"
		default:
			kinds[i] = "own"
		}
	}
	return kinds
}

func wantCause(t *testing.T, o batch.Outcome[int], causes ...error) {
	t.Helper()
	for _, cause := range causes {
		if !errors.Is(o.Err, cause) {
			t.Errorf("error %v doesn't wrap %v", o.Err, cause)
		}
	}
}

func TestFailure(t *testing.T) {
	abc := []int{1, 2, 3}

	t.Run("a broken store fails the whole batch after one run", func(t *testing.T) {
		runs, outcomes := decideTogether(t, abc, batch.Options[int, int]{}, containing(2, errFailed))
		diff(t, "runs", [][]int{abc}, runs)
		diff(t, "outcomes", []string{"run", "run", "run"}, summary(outcomes))
		wantCause(t, outcomes[2], errFailed)
	})

	t.Run("a conflict runs the batch again", func(t *testing.T) {
		left := 2
		runs, outcomes := decideTogether(t, abc, batch.Options[int, int]{}, func([]int) error {
			if left--; left >= 0 {
				return errAgain
			}
			return nil
		})
		diff(t, "runs", [][]int{abc, abc, abc}, runs)
		diff(t, "outcomes", []string{"ok", "ok", "ok"}, summary(outcomes))
	})

	t.Run("a lasting conflict goes one by one after three runs and ends the batch where it is", func(t *testing.T) {
		runs, outcomes := decideTogether(t, abc, batch.Options[int, int]{}, containing(2, errAgain))
		diff(t, "runs", [][]int{abc, abc, abc, {1}, {2}, {2}, {2}}, runs)
		diff(t, "outcomes", []string{"ok", "run", "run"}, summary(outcomes))
		wantCause(t, outcomes[2], errAgain)
	})

	t.Run("an error of one request goes one by one at once and is only that request's", func(t *testing.T) {
		runs, outcomes := decideTogether(t, abc, batch.Options[int, int]{}, containing(2, errSingle))
		diff(t, "runs", [][]int{abc, {1}, {2}, {3}}, runs)
		diff(t, "outcomes", []string{"ok", "own", "ok"}, summary(outcomes))
		wantCause(t, outcomes[1], errSingle)
	})

	t.Run("a store that breaks during one by one stops what is behind", func(t *testing.T) {
		runs, outcomes := decideTogether(t, abc, batch.Options[int, int]{}, func(reqs []int) error {
			switch {
			case len(reqs) > 1:
				return errSingle
			case reqs[0] == 2:
				return errFailed
			}
			return nil
		})
		diff(t, "runs", [][]int{abc, {1}, {2}}, runs)
		diff(t, "outcomes", []string{"ok", "run", "run"}, summary(outcomes))
		if outcomes[1].Err != outcomes[2].Err {
			t.Errorf("errors differ: %v, %v", outcomes[1].Err, outcomes[2].Err)
		}
	})

	t.Run("without a classifier each error fails the batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &scripted{verdict: containing(2, errSingle)}
			g := batch.New(s.apply, batch.Options[int, int]{})
			outcomes := g.DoAll(t.Context(), abc)
			closeGroup(t, g)
			diff(t, "runs", [][]int{abc}, s.runs)
			diff(t, "outcomes", []string{"run", "run", "run"}, summary(outcomes))
		})
	})
}

func TestBusy(t *testing.T) {
	t.Run("runs again until the lock is free", func(t *testing.T) {
		var start time.Time
		free := func() bool { return time.Since(start) >= 3*time.Second }
		runs, outcomes := decideTogether(t, []int{1, 2}, batch.Options[int, int]{}, func([]int) error {
			if start.IsZero() {
				start = time.Now()
			}
			if !free() {
				return errBusy
			}
			return nil
		})
		diff(t, "outcomes", []string{"ok", "ok"}, summary(outcomes))
		if n := len(runs); n < 50 || n > 200 {
			t.Errorf("%d runs in 3 s", n)
		}
	})

	t.Run("gives up at the deadline of the oldest request, counted from admission", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &scripted{verdict: func([]int) error { return errBusy }}
			g := batch.New(s.apply, batch.Options[int, int]{Patience: 2 * time.Second, Classify: classify})
			start := time.Now()
			outcomes := g.DoAll(t.Context(), []int{1, 2})
			if waited := time.Since(start); waited != 2*time.Second {
				t.Errorf("gave up after %v", waited)
			}
			closeGroup(t, g)
			diff(t, "outcomes", []string{"run", "run"}, summary(outcomes))
			wantCause(t, outcomes[0], errBusy)
		})
	})
}

func TestUnknown(t *testing.T) {
	lost := func([]int) error { return errUnknown }

	t.Run("is resolved and never run again", func(t *testing.T) {
		asked := 0
		resolve := func(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
			if asked++; asked < 5 {
				return nil, errFailed
			}
			return echo(reqs), nil
		}
		runs, outcomes := decideTogether(t, []int{1, 2}, batch.Options[int, int]{Resolve: resolve}, lost)
		diff(t, "runs", [][]int{{1, 2}}, runs)
		diff(t, "outcomes", []batch.Outcome[int]{{Value: 1}, {Value: 2}}, outcomes)
	})

	t.Run("stays unknown when nothing is learnt within five seconds", func(t *testing.T) {
		var first, last time.Time
		resolve := func(context.Context, []int) ([]batch.Outcome[int], error) {
			if last = time.Now(); first.IsZero() {
				first = last
			}
			panic("even a panic is only another way not to know")
		}
		runs, outcomes := decideTogether(t, []int{1, 2}, batch.Options[int, int]{Resolve: resolve}, lost)
		diff(t, "runs", [][]int{{1, 2}}, runs)
		diff(t, "outcomes", []string{"run", "run"}, summary(outcomes))
		wantCause(t, outcomes[1], batch.ErrOutcomeUnknown, errUnknown)
		if asked := last.Sub(first); asked < 4*time.Second || asked > 5*time.Second {
			t.Errorf("asked for %v", asked)
		}
	})

	t.Run("fails without a resolver", func(t *testing.T) {
		_, outcomes := decideTogether(t, []int{1}, batch.Options[int, int]{}, lost)
		wantCause(t, outcomes[0], batch.ErrOutcomeUnknown)
	})

	t.Run("fails, and does not run again, when nothing was committed", func(t *testing.T) {
		resolve := func(context.Context, []int) ([]batch.Outcome[int], error) { return nil, batch.ErrNotCommitted }
		runs, outcomes := decideTogether(t, []int{1}, batch.Options[int, int]{Resolve: resolve}, lost)
		diff(t, "runs", [][]int{{1}}, runs)
		wantCause(t, outcomes[0], batch.ErrNotCommitted, errUnknown)
		if errors.Is(outcomes[0].Err, batch.ErrOutcomeUnknown) {
			t.Error("a known rollback is reported as unknown")
		}
	})

	t.Run("is what a wrong number of outcomes leads to", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			runs := 0
			g := batch.New(func(context.Context, []int) ([]batch.Outcome[int], error) {
				runs++
				return make([]batch.Outcome[int], 1), nil
			}, batch.Options[int, int]{})
			outcomes := g.DoAll(t.Context(), []int{1, 2})
			closeGroup(t, g)
			wantCause(t, outcomes[1], batch.ErrOutcomeUnknown)
			diff(t, "runs", 1, runs)
		})
	})
}

func TestPanic(t *testing.T) {
	t.Run("fails only the guilty request", func(t *testing.T) {
		runs, outcomes := decideTogether(t, []int{1, 2, 3}, batch.Options[int, int]{}, func(reqs []int) error {
			if slices.Contains(reqs, 2) {
				panic(errSingle)
			}
			return nil
		})
		diff(t, "runs", [][]int{{1, 2, 3}, {1}, {2}, {3}}, runs)
		diff(t, "outcomes", []string{"ok", "own", "ok"}, summary(outcomes))
		wantCause(t, outcomes[1], batch.ErrPanic, errSingle)
		var panicked *batch.PanicError
		if !errors.As(outcomes[1].Err, &panicked) || panicked.Value != errSingle || !strings.Contains(string(panicked.Stack), "failure_test.go") {
			t.Errorf("panic error %+v", panicked)
		}
	})
}
