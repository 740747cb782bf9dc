package batch

import (
	"context"
	"sync"
	"time"
)

// Group collects requests into batches and has its workers apply them. Its methods may be called from any goroutine.
type Group[Req, Res any] struct {
	apply   Apply[Req, Res]
	options Options[Req, Res]

	ctx     context.Context // the one that Apply gets
	cancel  context.CancelFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	wake    sync.Cond // the queue has grown, or the group has closed
	queue   []item[Req, Res]
	waiting []*waiter[Req, Res] // slices without room, oldest first
	closed  bool
}

// item is one request in the queue.
type item[Req, Res any] struct {
	req      Req
	done     func(Outcome[Res])
	deadline time.Time
	span     int // on the first item of a slice: how many belong together; 0 within a slice
}

// New returns a group whose workers have started; [Group.Close] ends them.
func New[Req, Res any](apply Apply[Req, Res], o Options[Req, Res]) *Group[Req, Res] {
	g := &Group[Req, Res]{apply: apply, options: o.withDefaults()}
	g.wake.L = &g.mu
	g.ctx, g.cancel = context.WithCancel(context.Background())
	for range g.options.Workers {
		g.workers.Go(g.work)
	}
	return g
}

// Submit admits req, or returns [ErrQueueFull] or [ErrClosed]. After admission done is called exactly once, when the
// request is decided; a worker calls it, so it must neither block nor close the group.
func (g *Group[Req, Res]) Submit(req Req, done func(Outcome[Res])) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	// A slice that waits comes first; otherwise a stream of single requests would keep it out for ever.
	if len(g.waiting) > 0 || !g.fits(1) {
		return ErrQueueFull
	}
	g.admit(item[Req, Res]{req: req, done: done, span: 1})
	return nil
}

// Close admits nothing more, waits until everything admitted is decided, and ends the workers. When ctx ends first, the
// context of Apply is cancelled, what is not decided by then fails with [ErrClosed], and the error of ctx is returned;
// the workers are waited for even then. Closing again waits too.
func (g *Group[Req, Res]) Close(ctx context.Context) error {
	g.refuse()
	stop := context.AfterFunc(ctx, g.cancel)
	g.workers.Wait()
	g.cancel()
	if inTime := stop(); !inTime {
		return ctx.Err()
	}
	return nil
}

// refuse closes the entrance, also to those who stand in front of it.
func (g *Group[Req, Res]) refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, w := range g.waiting {
		w.admission <- ErrClosed
	}
	g.waiting = nil
	g.wake.Broadcast()
}

func (g *Group[Req, Res]) fits(n int) bool { return len(g.queue)+n <= g.options.MaxQueue }

// admit appends items that are to be decided together. The caller holds mu.
func (g *Group[Req, Res]) admit(items ...item[Req, Res]) {
	deadline := time.Now().Add(g.options.Patience)
	for i := range items {
		items[i].deadline = deadline
	}
	g.queue = append(g.queue, items...)
	g.wake.Signal()
}
