package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

const resolveWithin = 5 * time.Second // the time in which Options.Resolve must learn an outcome

// resolve learns what became of a commit without an answer, or fails with ErrOutcomeUnknown or ErrNotCommitted. Running
// again instead would commit twice whenever only the answer was lost.
func (r *run[Req, Res]) resolve(reqs []Req, lost error) ([]Outcome[Res], error) {
	unknown := fmt.Errorf("%w: %w", ErrOutcomeUnknown, lost)
	ask := r.group.options.Resolve
	if ask == nil {
		return nil, unknown
	}
	deadline := time.Now().Add(resolveWithin)
	ctx, cancel := context.WithDeadline(r.group.ctx, deadline)
	defer cancel()
	asking := pauses{next: 10 * time.Millisecond, most: 250 * time.Millisecond}
	for ctx.Err() == nil {
		outcomes, err := guarded(ctx, ask, reqs)
		switch {
		case err == nil:
			return outcomes, nil
		case errors.Is(err, ErrNotCommitted):
			return nil, fmt.Errorf("%w: %w", err, lost)
		}
		unknown = fmt.Errorf("%w: %w; asked: %w", ErrOutcomeUnknown, lost, err)
		asking.wait(ctx, deadline)
	}
	return nil, unknown
}

// guarded calls f and turns a panic or a wrong number of outcomes into an error.
func guarded[Req, Res any](ctx context.Context, f Apply[Req, Res], reqs []Req) (outcomes []Outcome[Res], err error) {
	defer func() {
		if value := recover(); value != nil {
			outcomes, err = nil, &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	outcomes, err = f(ctx, reqs)
	if err == nil && len(outcomes) != len(reqs) {
		return nil, fmt.Errorf("%w: %d for %d requests", errMiscount, len(outcomes), len(reqs))
	}
	return outcomes, err
}
