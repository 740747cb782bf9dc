package batch

import (
	"context"
	"errors"
	"slices"
)

// waiter is a slice that stands in front of a full queue.
type waiter[Req, Res any] struct {
	items     []item[Req, Res]
	admission chan error // gets nil or ErrClosed, once; buffered
}

// DoAll has reqs decided in order and returns an outcome for each. It is made for consumers, which hand over all that
// they have polled: it waits for room instead of failing. The requests go in slices of at most MaxBatch; a slice stays
// together in one batch, and the next one is submitted only after it is decided.
//
// A refusal is the answer of its request and the rest goes on. A [*RunError] is none: after the slice that holds one,
// nothing more is submitted and all other requests get that same error, so that a later record of a key never overtakes
// an earlier one. If ctx ends, what is not decided gets the error of ctx in a [*RunError]; an admitted slice goes on.
func (g *Group[Req, Res]) DoAll(ctx context.Context, reqs []Req) []Outcome[Res] {
	outcomes := make([]Outcome[Res], 0, len(reqs))
	// A slice longer than the whole queue could never be admitted.
	for slice := range slices.Chunk(reqs, min(g.options.MaxBatch, g.options.MaxQueue)) {
		decided, err := g.doSlice(ctx, slice)
		outcomes = append(outcomes, decided...)
		if err != nil {
			return append(outcomes, sameError[Res](len(reqs)-len(outcomes), err)...)
		}
	}
	return outcomes
}

// doSlice returns the outcomes of one slice, or none if it was not decided, and the failure after which nothing may
// follow.
func (g *Group[Req, Res]) doSlice(ctx context.Context, reqs []Req) ([]Outcome[Res], error) {
	items, decided := newSlice[Req, Res](reqs)
	if err := g.admitWhole(ctx, items); err != nil {
		return nil, &RunError{Err: err}
	}
	select {
	case outcomes := <-decided:
		return outcomes, firstFailure(outcomes)
	case <-ctx.Done():
		return nil, &RunError{Err: ctx.Err()}
	}
}

// newSlice makes the items of reqs and the channel that gets all outcomes after the last one is decided. The items stay
// in one batch, so one worker fills the outcomes and they need no lock.
func newSlice[Req, Res any](reqs []Req) ([]item[Req, Res], <-chan []Outcome[Res]) {
	items := make([]item[Req, Res], len(reqs))
	outcomes := make([]Outcome[Res], len(reqs))
	decided := make(chan []Outcome[Res], 1)
	left := len(reqs)
	for i, req := range reqs {
		items[i] = item[Req, Res]{req: req, done: func(o Outcome[Res]) {
			outcomes[i] = o
			if left--; left == 0 {
				decided <- outcomes
			}
		}}
	}
	items[0].span = len(items)
	return items, decided
}

// admitWhole admits items at once if there is room and nobody waits, else after those who came before.
func (g *Group[Req, Res]) admitWhole(ctx context.Context, items []item[Req, Res]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &waiter[Req, Res]{items: items, admission: make(chan error, 1)}
	g.queueUp(w)
	select {
	case err := <-w.admission:
		return err
	case <-ctx.Done():
		g.withdraw(w)
		return ctx.Err()
	}
}

func (g *Group[Req, Res]) queueUp(w *waiter[Req, Res]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		w.admission <- ErrClosed
		return
	}
	g.waiting = append(g.waiting, w)
	g.admitWaiting()
}

// withdraw takes w out of the line, which may be what somebody behind it needs. A w that was admitted meanwhile stays.
func (g *Group[Req, Res]) withdraw(w *waiter[Req, Res]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		g.admitWaiting()
	}
}

// admitWaiting admits who waits, strictly in order, as long as there is room. The caller holds mu.
func (g *Group[Req, Res]) admitWaiting() {
	for len(g.waiting) > 0 && g.fits(len(g.waiting[0].items)) {
		w := g.waiting[0]
		g.waiting = slices.Delete(g.waiting, 0, 1)
		g.admit(w.items...)
		w.admission <- nil
	}
}

// firstFailure returns the first *RunError among outcomes, or nil if each of them is a decision.
func firstFailure[Res any](outcomes []Outcome[Res]) error {
	for _, o := range outcomes {
		if _, ok := errors.AsType[*RunError](o.Err); ok {
			return o.Err
		}
	}
	return nil
}

func sameError[Res any](n int, err error) []Outcome[Res] {
	return slices.Repeat([]Outcome[Res]{{Err: err}}, n)
}
