package batch

import (
	"context"
	"math/rand/v2"
	"time"
)

// pauses are waits that double from next up to most. Each is shortened by up to half at random, so that processes that
// wait for the same lock don't come back together.
type pauses struct {
	next, most time.Duration
}

// wait pauses, at most until the deadline. It reports false if that had passed before, or if ctx has ended.
func (p *pauses) wait(ctx context.Context, deadline time.Time) bool {
	left := time.Until(deadline)
	if left <= 0 {
		return false
	}
	pause := p.next - rand.N(p.next/2)
	p.next = min(2*p.next, p.most)
	timer := time.NewTimer(min(pause, left))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
