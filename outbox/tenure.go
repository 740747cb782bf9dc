package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// settleGrace bounds each call of the store that is still wanted after the time for publishing is over: settling what
// was acknowledged, and releasing the lease.
const settleGrace = 500 * time.Millisecond

// tenure is the time during which a relay holds one lease.
type tenure struct {
	o     RelayOptions
	wake  <-chan struct{}
	lease Lease
	fails *failing

	stop context.Context // Run's: no batch starts after it
	held context.Context // ends when the lease is lost, else Grace after stop: nothing is published after it
	lose context.CancelCauseFunc

	holds  *holds
	outage *backoff.ExponentialBackOff // between batches of which nothing at all is acknowledged
}

// serve relays under lease until ctx ends or the lease is lost, and leaves neither goroutine nor lease behind.
func (r *Relay) serve(ctx context.Context, lease Lease, since time.Time) error {
	working, end := linger(ctx, r.o.Grace)
	defer end()
	held, lose := context.WithCancelCause(working)
	t := &tenure{
		o: r.o, wake: r.wake, lease: lease, fails: &r.failing, stop: ctx, held: held, lose: lose,
		holds: newHolds(r.o.retry), outage: r.o.retry(),
	}
	r.o.Logger.InfoContext(ctx, "outbox lease acquired", "owner", lease.Owner, "epoch", lease.Epoch)
	r.o.Observe.Leased(true)
	defer r.o.Observe.Leased(false)
	defer r.failing.over() // the rows are another relay's worry now

	var keeper sync.WaitGroup
	keeper.Go(func() { t.keep(since) })
	err := t.relay()
	lose(nil)
	keeper.Wait()
	return errors.Join(err, t.release())
}

// relay makes passes over the table until the tenure ends.
func (t *tenure) relay() error {
	poll, retry := t.o.poll(), t.o.retry()
	for t.open() {
		found, err := t.pass()
		switch {
		case errors.Is(err, ErrPublisherStuck):
			return err
		case t.lost():
			return nil
		case err != nil:
			t.o.Logger.WarnContext(t.held, "outbox pass broken off", "error", err)
			t.sleep(retry.NextBackOff())
			continue
		case found == more:
			poll.Reset()
		case found == some:
			poll.Reset()
			t.await(poll.NextBackOff())
		default:
			t.await(max(t.o.PollMin, t.holds.due(poll.NextBackOff())))
		}
		retry.Reset()
	}
	return nil
}

// keep renews the lease beside the publishing, so that a long publish can't cost it. The lease is lost when the store
// says so, or when our own clock says that it has run out since the last renewal that is known to have succeeded: even
// if a renewal hangs, publishing ends in time.
func (t *tenure) keep(since time.Time) {
	expiry := time.AfterFunc(time.Until(since.Add(t.o.LeaseTTL)), func() {
		t.lose(fmt.Errorf("not renewed for %v: %w", t.o.LeaseTTL, ErrLeaseLost))
	})
	defer expiry.Stop()
	tick := time.NewTicker(t.o.RenewEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.held.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		switch err := t.renew(); {
		case err == nil:
			expiry.Reset(time.Until(asked.Add(t.o.LeaseTTL)))
		case errors.Is(err, ErrLeaseLost):
			t.lose(err)
		case t.held.Err() == nil:
			t.o.Logger.WarnContext(t.held, "outbox lease not renewed", "epoch", t.lease.Epoch, "error", err)
		}
	}
}

// renew gives one try no longer than the time to the next.
func (t *tenure) renew() error {
	ctx, cancel := context.WithTimeout(t.held, t.o.RenewEvery)
	defer cancel()
	return t.o.Store.Renew(ctx, t.lease, t.o.LeaseTTL)
}

// release gives the lease up, so that the next relay needn't wait until it runs out. A lost one is nobody's to release.
func (t *tenure) release() error {
	if t.lost() {
		t.o.Logger.WarnContext(t.held, "outbox lease lost", "epoch", t.lease.Epoch, "error", context.Cause(t.held))
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.held), settleGrace)
	defer cancel()
	if err := t.o.Store.Release(ctx, t.lease); err != nil {
		return fmt.Errorf("release outbox lease of epoch %d: %w", t.lease.Epoch, err)
	}
	return nil
}

// open says whether another batch may start.
func (t *tenure) open() bool { return t.stop.Err() == nil && t.held.Err() == nil }

// lost says whether the lease has passed, or may have passed, to another relay.
func (t *tenure) lost() bool { return errors.Is(context.Cause(t.held), ErrLeaseLost) }

// await waits for a wake-up, for d, or for the end of the tenure.
func (t *tenure) await(d time.Duration) {
	select {
	case <-t.wake:
	case <-time.After(d):
	case <-t.stop.Done():
	case <-t.held.Done():
	}
}

// sleep is await without wake-ups: back-off that every commit could cut short would be none.
func (t *tenure) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.stop.Done():
	case <-t.held.Done():
	}
}
