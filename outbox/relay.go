package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrPublisherStuck says that the publisher did not return although its context had ended. The relay can't go on: a
// second call beside the stuck one could overtake it within a key.
var ErrPublisherStuck = errors.New("publisher does not return")

// Relay moves the rows of one [Store] to one [Publisher]. Any number of relays may run on the same table, in any number
// of processes: the lease lets one of them publish at a time, and the others stand by.
type Relay struct {
	o       RelayOptions
	wake    chan struct{} // holds at most one wake-up: the pass that takes it sees all that was committed before
	failing failing
}

// NewRelay returns a relay that does nothing until [Relay.Run].
func NewRelay(o RelayOptions) *Relay {
	return &Relay{o: o.withDefaults(), wake: make(chan struct{}, 1)}
}

// Wake tells the relay that rows were committed. It never blocks and may be called from anywhere, at any time. It only
// saves waiting: rows that nobody announces, of other processes for instance, are found by polling.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run relays until ctx ends. It waits for the lease while another relay holds it, and queues for it again after losing
// it. Errors of store and publisher are logged and tried again, without end. When ctx ends, no further batch starts, the
// one in flight gets [RelayOptions.Grace] to be acknowledged, is settled, and the lease is released: with the defaults
// within 3 s, even if broker and database never answer, as long as the store heeds its contexts.
//
// It returns nil, or an error if the lease could not be released, which makes the next relay wait until it runs out, or
// [ErrPublisherStuck]. It must not be called again while it runs.
func (r *Relay) Run(ctx context.Context) error {
	for {
		lease, since, ok := r.acquire(ctx)
		if !ok {
			return nil
		}
		if err := r.serve(ctx, lease, since); err != nil {
			return err
		}
	}
}

// acquire waits for the lease; ok is false if ctx ended before. The lease is good for its TTL from since, the moment
// before the database was asked, so that our clock lets go of it before the database's does.
func (r *Relay) acquire(ctx context.Context) (lease Lease, since time.Time, ok bool) {
	retry := r.o.retry()
	for ctx.Err() == nil {
		since = time.Now()
		var err error
		lease, ok, err = r.o.Store.Acquire(ctx, r.o.Owner, r.o.LeaseTTL)
		switch {
		case err == nil && ok:
			return lease, since, true
		case err == nil:
			retry.Reset()
			sleep(ctx, r.o.RenewEvery)
		default:
			r.o.Logger.WarnContext(ctx, "outbox lease not acquired", "error", err)
			sleep(ctx, retry.NextBackOff())
		}
	}
	return Lease{}, since, false
}

// Idle waits until no row is waiting, by this relay's work or another's. Parked rows don't count. It is for shutting
// down in order: stop the writers, wait for Idle, then end Run. It returns an error only when ctx ends before.
func (r *Relay) Idle(ctx context.Context) error {
	r.Wake()
	for {
		depth, err := r.o.Store.Depth(ctx)
		if err == nil && depth.Waiting == 0 {
			return nil
		}
		sleep(ctx, r.o.PollMin)
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("outbox not drained, %d rows wait: %w", depth.Waiting, ctx.Err()), err)
		}
	}
}
