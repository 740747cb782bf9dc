package outbox_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"kuhnya/outbox"
)

func TestRelayLease(t *testing.T) {
	play(t, map[string]func(scene){
		"is_kept_through_a_long_publish":                 keepsLease,
		"passes_on_within_a_second_of_a_stop":            handsOver,
		"redelivers_after_lease_expiry":                  redeliversAfterExpiry,
		"lost_means_publishing_ends_at_once":             lostEndsPublishing,
		"not_renewed_means_publishing_ends_in_time":      unrenewedEndsPublishing,
		"not_renewed_in_time_although_renewals_hang":     hangingRenewal,
		"survives_one_failed_renewal":                    survivesFailedRenewal,
		"not_renewed_counts_from_the_last_renewal":       expiryMoves,
		"survives_one_renewal_that_hangs":                survivesHangingRenewal,
		"lost_while_reading_means_nothing_is_published":  lostWhileReading,
		"lost_while_deleting_settles_nothing_and_queues": lostWhileDeleting,
	})
}

// second is a relay with its own, sound way to the table and its own broker.
func (s scene) second(b *broker) outbox.RelayOptions {
	return outbox.RelayOptions{Store: s.table, Publisher: b}
}

func keepsLease(s scene) {
	want := fill(s.T, s.table, "a", 3)
	s.broker.before = func(context.Context, []outbox.Row) error {
		time.Sleep(9 * time.Second)
		return nil
	}
	start(s.T, s.options())
	after(0)
	other := &broker{}
	start(s.T, s.second(other))
	after(8 * time.Second)
	s.wantDepth(outbox.Depth{Waiting: 3})
	after(time.Minute)
	s.wantSent(want...)
	s.wantDepth(outbox.Depth{})
	if got := other.got(); len(got) != 0 {
		s.Errorf("the standby published %q", got)
	}
}

func handsOver(s scene) {
	first := start(s.T, s.options())
	after(0)
	other := &broker{}
	start(s.T, s.second(other))
	after(time.Minute)
	first.end(s.T)
	want := fill(s.T, s.table, "a", 3)
	after(time.Second)
	if !slices.Equal(other.got(), want) {
		s.Errorf("the standby published %q, want %q", other.got(), want)
	}
}

// redeliversAfterExpiry freezes a relay between the broker's answer and the delete, as a stopped virtual machine does,
// and lets it go on when another relay has taken over but not yet published anything.
func redeliversAfterExpiry(s scene) {
	want := fill(s.T, s.table, "a", 3)
	thaw := make(chan struct{})
	var frozen atomic.Bool
	s.store.set(func(op string) error {
		if op == "delete" {
			frozen.Store(true)
		}
		if frozen.Load() {
			<-thaw
		}
		return nil
	})
	start(s.T, s.options())
	after(0)
	s.wantSent(want...)

	other := &broker{refuse: refuseKey("a")}
	start(s.T, s.second(other))
	after(5 * time.Second)
	close(thaw)
	after(time.Minute)
	s.wantDepth(outbox.Depth{Waiting: 3}) // the stale relay deleted nothing
	other.heal()
	after(4 * time.Second)
	if !slices.Equal(other.got(), want) {
		s.Errorf("the second relay published %q, want %q", other.got(), want)
	}
	s.wantDepth(outbox.Depth{})
	s.wantSent(want...)
}

// cutShort starts a relay whose publisher waits for the end of its context, and returns where it tells how long that
// took.
func (s scene) cutShort() <-chan time.Duration {
	fill(s.T, s.table, "a", 1)
	took := make(chan time.Duration, 100)
	s.broker.before = func(ctx context.Context, _ []outbox.Row) error {
		begin := time.Now()
		<-ctx.Done()
		took <- time.Since(begin)
		return nil // acknowledged all the same: the record was under way
	}
	start(s.T, s.options())
	return took
}

func (s scene) wantUnsettled(took <-chan time.Duration, want time.Duration) {
	s.Helper()
	after(9 * time.Second) // sooner than the time-out of publishing
	select {
	case got := <-took:
		if got != want {
			s.Errorf("publishing went on for %v, want %v", got, want)
		}
	default:
		s.Error("publishing went on without a lease")
	}
	s.wantDepth(outbox.Depth{Waiting: 1})
}

func (s scene) failRenewals(err error) {
	s.store.set(func(op string) error {
		switch op {
		case "renew":
			return err
		case "acquire":
			return errors.New("database away")
		}
		return nil
	})
}

func lostEndsPublishing(s scene) {
	took := s.cutShort()
	after(0)
	s.failRenewals(outbox.ErrLeaseLost)
	s.wantUnsettled(took, time.Second)
}

func unrenewedEndsPublishing(s scene) {
	took := s.cutShort()
	after(0)
	s.failRenewals(errors.New("database away"))
	s.wantUnsettled(took, 3*time.Second)
}

func hangingRenewal(s scene) {
	took := s.cutShort()
	after(0)
	thaw := make(chan struct{})
	defer close(thaw)
	s.store.set(func(op string) error {
		if op == "renew" {
			<-thaw
		}
		return nil
	})
	s.wantUnsettled(took, 3*time.Second)
}

func survivesFailedRenewal(s scene) {
	want := fill(s.T, s.table, "a", 1)
	s.broker.before = func(context.Context, []outbox.Row) error {
		time.Sleep(8 * time.Second)
		return nil
	}
	tries := 0
	s.store.set(func(op string) error {
		if op == "renew" {
			if tries++; tries%2 == 1 {
				return errors.New("connection reset")
			}
		}
		return nil
	})
	start(s.T, s.options())
	after(time.Minute)
	s.wantSent(want...)
	s.wantDepth(outbox.Depth{})
}

func lostWhileDeleting(s scene) {
	want := fill(s.T, s.table, "a", 2)
	first := true
	s.store.set(func(op string) error {
		if op == "delete" && first {
			first = false
			return outbox.ErrLeaseLost
		}
		return nil
	})
	start(s.T, s.options())
	after(0)
	s.wantDepth(outbox.Depth{Waiting: 2})
	after(5 * time.Second) // the lease runs out in the database, and is taken again
	s.wantSent(slices.Concat(want, want)...)
	s.wantDepth(outbox.Depth{})
}

func expiryMoves(s scene) {
	took := s.cutShort()
	after(4500 * time.Millisecond)
	s.failRenewals(errors.New("database away"))
	after(0)
	s.wantUnsettled(took, 7*time.Second)
}

// dozing is a store whose first renewal is never answered.
type dozing struct {
	*faulty
	renewals int
}

func (d *dozing) Renew(ctx context.Context, lease outbox.Lease, ttl time.Duration) error {
	if d.renewals++; d.renewals == 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	return d.faulty.Renew(ctx, lease, ttl)
}

func survivesHangingRenewal(s scene) {
	want := fill(s.T, s.table, "a", 1)
	s.broker.before = func(context.Context, []outbox.Row) error {
		time.Sleep(8 * time.Second)
		return nil
	}
	o := s.options()
	o.Store = &dozing{faulty: s.store}
	start(s.T, o)
	after(time.Minute)
	s.wantSent(want...)
	s.wantDepth(outbox.Depth{})
}

// tardy is a store that has read a page long before it hands it out.
type tardy struct {
	*faulty
	thaw chan struct{}
}

func (d tardy) Pending(ctx context.Context, after int64, limit int) ([]outbox.Row, error) {
	rows, err := d.faulty.Pending(ctx, after, limit)
	<-d.thaw
	return rows, err
}

// lostWhileReading holds a page back until another relay has the lease.
func lostWhileReading(s scene) {
	fill(s.T, s.table, "a", 1)
	o := s.options()
	store := tardy{s.store, make(chan struct{})}
	o.Store = store
	start(s.T, o)
	after(0)
	s.store.set(func(op string) error {
		if op == "renew" {
			return errors.New("database away")
		}
		return nil
	})
	other := &broker{refuse: refuseKey("a")}
	start(s.T, s.second(other))
	after(10 * time.Second)
	close(store.thaw)
	after(time.Minute)
	s.wantSent()
	s.wantDepth(outbox.Depth{Waiting: 1})
}
