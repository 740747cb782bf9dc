package outbox

import (
	"context"
	"time"
)

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// linger returns a context that outlives parent by d and ends for the same cause: for work that may be finished after
// the signal to stop, yet not at leisure. The caller must call the returned function.
func linger(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		sleep(ctx, d)
		cancel(context.Cause(parent))
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
