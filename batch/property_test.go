package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kuhnya/batch"
)

// kind is how a request behaves by itself.
type kind int

const (
	good     kind = iota
	refused       // decided with an error of its own
	poisoned      // its transaction fails with an error of class Single
	panics
)

// fault is what happens to one transaction, whatever is in it.
type fault int

const (
	none fault = iota
	failed
	again
	busy
	lostAfterCommit
	lostBeforeCommit
)

var errRefused = errors.New("refused")

// ledger is a transactional store in memory. It commits all effects of a call or none of them.
type ledger struct {
	mu      sync.Mutex
	kinds   []kind
	faults  []fault // of the transactions to come; then none
	knows   []bool  // whether the questions to come about a lost commit can be answered; then none can
	lost    map[int]bool
	effects []int // committed requests, in order
}

func (l *ledger) apply(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
	time.Sleep(time.Millisecond) // of the bubble's clock: a commit takes long enough for others to arrive
	l.mu.Lock()
	defer l.mu.Unlock()
	outcomes, effects, err := l.decide(reqs)
	if err != nil {
		return nil, err
	}
	fault := next(&l.faults)
	if fault == none || fault == lostAfterCommit {
		l.effects = append(l.effects, effects...)
	}
	l.lost[reqs[0]] = fault == lostAfterCommit
	return outcomes, []error{none: nil, failed: errFailed, again: errAgain, busy: errBusy, lostAfterCommit: errUnknown, lostBeforeCommit: errUnknown}[fault]
}

func (l *ledger) decide(reqs []int) (outcomes []batch.Outcome[int], effects []int, err error) {
	outcomes = echo(reqs)
	for i, req := range reqs {
		switch l.kinds[req] {
		case good:
			effects = append(effects, req)
		case refused:
			outcomes[i] = batch.Outcome[int]{Err: errRefused}
		case poisoned:
			return nil, nil, errSingle
		case panics:
			panic(req)
		}
	}
	return outcomes, effects, nil
}

func (l *ledger) resolve(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !next(&l.knows) {
		return nil, errFailed
	}
	if !l.lost[reqs[0]] {
		return nil, batch.ErrNotCommitted
	}
	outcomes, _, err := l.decide(reqs)
	return outcomes, err
}

// next takes the first element of a script, or gives the zero value at its end.
func next[T any](script *[]T) (first T) {
	if len(*script) > 0 {
		first, *script = (*script)[0], (*script)[1:]
	}
	return first
}

// play has each producer hand over its requests, in order and beside the others, and returns all outcomes by request;
// nil is a request that was not admitted. Even producers use DoAll, odd ones Submit.
func play(l *ledger, producers [][]int, o batch.Options[int, int]) (outcomes [][]batch.Outcome[int]) {
	o.Classify, o.Resolve = classify, l.resolve
	outcomes = make([][]batch.Outcome[int], len(l.kinds))
	g := batch.New(l.apply, o)
	var finished sync.WaitGroup
	for i, reqs := range producers {
		finished.Go(func() {
			if i%2 == 0 {
				for j, o := range g.DoAll(context.Background(), reqs) {
					outcomes[reqs[j]] = append(outcomes[reqs[j]], o)
				}
				return
			}
			for _, req := range reqs {
				g.Submit(req, func(o batch.Outcome[int]) { outcomes[req] = append(outcomes[req], o) })
				time.Sleep(300 * time.Microsecond) // of the bubble's clock
			}
		})
	}
	finished.Wait()
	g.Close(context.Background())
	return outcomes
}

func TestProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, producers, options := drawPlan(rt)
		var outcomes [][]batch.Outcome[int]
		synctest.Test(t, func(*testing.T) { outcomes = play(l, producers, options) })
		for req := range l.kinds {
			if err := l.check(req, outcomes[req]); err != nil {
				rt.Errorf("request %d of kind %d: %v", req, l.kinds[req], err)
			}
		}
		for i := 0; i < len(producers); i += 2 {
			if err := l.checkOrder(producers[i], outcomes); err != nil {
				rt.Errorf("producer %d: %v", i, err)
			}
		}
	})
}

func drawPlan(rt *rapid.T) (*ledger, [][]int, batch.Options[int, int]) {
	mostly := rapid.OneOf(rapid.Just(none), rapid.Just(none), rapid.Just(none), rapid.SampledFrom([]fault{failed, again, busy, lostAfterCommit, lostBeforeCommit}))
	kinds := rapid.OneOf(rapid.Just(good), rapid.Just(good), rapid.SampledFrom([]kind{refused, poisoned, panics}))
	l := &ledger{lost: map[int]bool{}}
	var producers [][]int
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 20), 1, 5).Draw(rt, "producers") {
		reqs := make([]int, n)
		for i := range reqs {
			reqs[i] = len(l.kinds)
			l.kinds = append(l.kinds, kinds.Draw(rt, "kind"))
		}
		producers = append(producers, reqs)
	}
	l.faults = rapid.SliceOfN(mostly, 0, 40).Draw(rt, "faults")
	l.knows = rapid.SliceOfN(rapid.Bool(), 0, 40).Draw(rt, "knows")
	return l, producers, batch.Options[int, int]{
		MaxBatch: rapid.IntRange(1, 8).Draw(rt, "max batch"),
		MaxQueue: rapid.IntRange(1, 16).Draw(rt, "max queue"),
		Workers:  rapid.IntRange(1, 3).Draw(rt, "workers"),
		Patience: time.Duration(rapid.IntRange(1, 100).Draw(rt, "patience")) * time.Millisecond,
	}
}

// check holds the outcomes of a request against what it is and what was committed of it.
func (l *ledger) check(req int, outcomes []batch.Outcome[int]) error {
	committed := 0
	for _, effect := range l.effects {
		if effect == req {
			committed++
		}
	}
	if len(outcomes) == 0 && committed == 0 {
		return nil // not admitted
	}
	if len(outcomes) != 1 {
		return fmt.Errorf("%d outcomes, %d effects", len(outcomes), committed)
	}
	got := outcomes[0]
	own := []error{good: nil, refused: errRefused, poisoned: errSingle, panics: batch.ErrPanic}[l.kinds[req]]
	unknown := errors.Is(got.Err, batch.ErrOutcomeUnknown)
	switch run := summary(outcomes)[0] == "run"; {
	case !run && !errors.Is(got.Err, own), got.Err == nil && got.Value != req:
		return fmt.Errorf("outcome %v, want %v", got, own)
	case got.Err == nil && committed != 1, got.Err != nil && !unknown && committed != 0, committed > 1:
		return fmt.Errorf("outcome %v, %d effects", got, committed)
	}
	return nil
}

// checkOrder holds what was committed of one DoAll call against its order: no gap but refusals, and nothing after a
// failed run.
func (l *ledger) checkOrder(reqs []int, outcomes [][]batch.Outcome[int]) error {
	last := -1
	for _, effect := range l.effects {
		if !slices.Contains(reqs, effect) {
			continue
		}
		if effect < last {
			return fmt.Errorf("%d committed after %d", effect, last)
		}
		last = effect
	}
	for _, req := range reqs {
		o := outcomes[req]
		if summary(o)[0] == "run" && !errors.Is(o[0].Err, batch.ErrOutcomeUnknown) && last > req {
			return fmt.Errorf("%d committed although the run of %d failed", last, req)
		}
	}
	return nil
}
