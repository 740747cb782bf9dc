package batch

import (
	"errors"
	"fmt"
	"time"
)

const maxRuns = 3 // of the same requests after conflicts

// work decides batches until the group is closed and its queue empty.
func (g *Group[Req, Res]) work() {
	for {
		items := g.take()
		if len(items) == 0 {
			return
		}
		g.decide(items)
		clear(items) // the queue still shares this array; what is decided must not stay alive through it
	}
}

// take waits for requests and cuts the next batch off the queue; none means that there will be no more.
func (g *Group[Req, Res]) take() []item[Req, Res] {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.queue) == 0 {
		if g.closed {
			return nil
		}
		g.wake.Wait()
	}
	n := g.nextSize()
	items := g.queue[:n:n]
	g.queue = g.queue[n:]
	g.admitWaiting()
	return items
}

// nextSize counts the oldest requests that make a batch. A slice of DoAll is never cut: in two batches its second half
// could be committed although the first had failed.
func (g *Group[Req, Res]) nextSize() int {
	n := 0
	for n < len(g.queue) && n+g.queue[n].span <= g.options.MaxBatch {
		n += g.queue[n].span
	}
	return n
}

func (g *Group[Req, Res]) decide(items []item[Req, Res]) {
	start := time.Now()
	reqs := make([]Req, len(items))
	for i := range items {
		reqs[i] = items[i].req
	}
	r := run[Req, Res]{group: g}
	r.settle(items, reqs)
	if g.options.Observe != nil && r.calls > 0 {
		g.options.Observe(Stats{Size: len(items), Runs: r.calls, Duration: time.Since(start)})
	}
}

// run is the way of one batch to its decision.
type run[Req, Res any] struct {
	group *Group[Req, Res]
	calls int // of Apply
}

// settle gives every item its outcome. The error it returns is the failed run after which no later request may run.
func (r *run[Req, Res]) settle(items []item[Req, Res], reqs []Req) error {
	alone := len(items) == 1
	outcomes, class, err := r.attempt(reqs, items[0].deadline)
	switch {
	case err == nil:
		for i, o := range outcomes {
			items[i].done(o)
		}
		return nil
	case class == Single && alone:
		items[0].done(Outcome[Res]{Err: err})
		return nil
	case (class == Single || class == Again) && !alone:
		return r.oneByOne(items, reqs)
	default:
		failure := &RunError{Err: err}
		fail(items, failure)
		return failure
	}
}

// oneByOne settles each item in a run of its own, until a run fails.
func (r *run[Req, Res]) oneByOne(items []item[Req, Res], reqs []Req) error {
	for i := range items {
		if err := r.settle(items[i:i+1], reqs[i:i+1:i+1]); err != nil {
			fail(items[i+1:], err)
			return err
		}
	}
	return nil
}

func fail[Req, Res any](items []item[Req, Res], err error) {
	for i := range items {
		items[i].done(Outcome[Res]{Err: err})
	}
}

// attempt runs reqs until they are decided or running them again as they are has no point; then it returns the class
// and the error of the last run.
func (r *run[Req, Res]) attempt(reqs []Req, deadline time.Time) ([]Outcome[Res], Class, error) {
	busy := pauses{next: time.Millisecond, most: 50 * time.Millisecond}
	for conflicts := 0; ; {
		if r.group.ctx.Err() != nil {
			return nil, Failed, ErrClosed
		}
		outcomes, err := r.apply(reqs)
		if err == nil {
			return outcomes, Failed, nil
		}
		switch class := r.group.classify(err); class {
		case Again:
			if conflicts++; conflicts == maxRuns {
				return nil, class, err
			}
		case Busy:
			if !busy.wait(r.group.ctx, deadline) {
				return nil, class, r.group.cutOff(err)
			}
		case Unknown:
			outcomes, err := r.resolve(reqs, err)
			return outcomes, class, err
		case Single:
			return nil, class, err
		default:
			return nil, Failed, r.group.cutOff(err)
		}
	}
}

// classify adds the classes that this package knows itself to those of the store.
func (g *Group[Req, Res]) classify(err error) Class {
	switch {
	case errors.Is(err, ErrPanic):
		return Single
	case errors.Is(err, errMiscount):
		return Unknown
	case g.options.Classify == nil:
		return Failed
	default:
		return g.options.Classify(err)
	}
}

// cutOff names closing as the reason where it cancelled the run, and keeps the store's own error beside it.
func (g *Group[Req, Res]) cutOff(err error) error {
	if g.ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrClosed, err)
}

func (r *run[Req, Res]) apply(reqs []Req) ([]Outcome[Res], error) {
	r.calls++
	return guarded(r.group.ctx, r.group.apply, reqs)
}
