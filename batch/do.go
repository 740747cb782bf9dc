package batch

import (
	"context"
	"sync"
)

// Do submits req and waits for its decision. If ctx ends first it returns the error of ctx and the admitted request goes
// on; with a ctx that has ended already nothing is admitted.
func (g *Group[Req, Res]) Do(ctx context.Context, req Req) (Res, error) {
	return g.DoThen(ctx, req, func(Outcome[Res]) {})
}

// DoThen is Do with a function that gets the outcome exactly once: what was decided, or why nothing was admitted. It is
// called before DoThen returns, or else, if ctx ended before the decision, by the worker; so it must neither block nor
// close the group.
func (g *Group[Req, Res]) DoThen(ctx context.Context, req Req, then func(Outcome[Res])) (Res, error) {
	var told sync.Once
	tell := func(o Outcome[Res]) (Res, error) {
		told.Do(func() { then(o) })
		return o.Value, o.Err
	}
	if err := ctx.Err(); err != nil {
		return tell(Outcome[Res]{Err: err})
	}
	decided := make(chan Outcome[Res], 1)
	err := g.Submit(req, func(o Outcome[Res]) {
		decided <- o
		if ctx.Err() != nil { // asked after sending: a caller that found nothing sent has made sure of a yes
			_, _ = tell(o)
		}
	})
	if err != nil {
		return tell(Outcome[Res]{Err: err})
	}
	select {
	case o := <-decided:
		return tell(o)
	case <-ctx.Done():
	}
	select {
	case o := <-decided:
		return tell(o)
	default:
		var none Res
		return none, ctx.Err()
	}
}
