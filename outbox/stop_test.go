package outbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"kuhnya/outbox"
)

func TestRelayStops(t *testing.T) {
	play(t, map[string]func(scene){
		"after_settling_what_is_in_flight":              settlesOnStop,
		"after_settling_what_was_answered_last":         settlesLastAnswer,
		"when_the_broker_never_answers":                 func(s scene) { s.stopsWithin(3*time.Second, untilDone) },
		"when_the_publisher_ignores_its_context":        stuckPublisher,
		"when_neither_broker_nor_database_ever_answers": deafDatabase,
		"when_the_database_is_away":                     stopsWithoutDatabase,
		"while_standing_by":                             stopsStandingBy,
		"without_starting_another_batch":                startsNoBatch,
	})
}

func TestRelayBoundsPublishing(t *testing.T) {
	play(t, map[string]func(scene){
		"and_tries_again": func(s scene) {
			want := fill(s.T, s.table, "a", 1)
			calls := 0
			s.broker.before = func(ctx context.Context, _ []outbox.Row) error {
				if calls++; calls == 1 {
					return untilDone(ctx, nil)
				}
				return nil
			}
			start(s.T, s.options())
			after(13 * time.Second)
			s.wantSent(want...)
		},
	})
}

func untilDone(ctx context.Context, _ []outbox.Row) error {
	<-ctx.Done()
	return ctx.Err()
}

func (s scene) stopsWithin(limit time.Duration, before func(context.Context, []outbox.Row) error) {
	fill(s.T, s.table, "a", 3)
	s.broker.before = before
	relay := start(s.T, s.options())
	after(time.Second)
	begin := time.Now()
	relay.end(s.T)
	if took := time.Since(begin); took > limit {
		s.Errorf("ended after %v, want within %v", took, limit)
	}
	s.wantDepth(outbox.Depth{Waiting: 3})
	if _, ok, _ := s.table.Acquire(context.Background(), "next", time.Hour); !ok {
		s.Error("the lease was not released")
	}
}

func settlesOnStop(s scene) {
	want := fill(s.T, s.table, "a", 3)
	s.broker.before = func(context.Context, []outbox.Row) error {
		time.Sleep(2 * time.Second)
		return nil
	}
	relay := start(s.T, s.options())
	after(time.Second)
	relay.end(s.T)
	s.wantSent(want...)
	s.wantDepth(outbox.Depth{})
	if _, ok, _ := s.table.Acquire(context.Background(), "next", time.Hour); !ok {
		s.Error("the lease was not released")
	}
}

func stuckPublisher(s scene) {
	thaw := make(chan struct{})
	defer close(thaw)
	fill(s.T, s.table, "a", 1)
	s.broker.before = func(context.Context, []outbox.Row) error { <-thaw; return errAway }
	relay := start(s.T, s.options())
	after(time.Second)
	relay.stop()
	after(3 * time.Second)
	select {
	case <-relay.done:
	default:
		s.Fatal("the relay waits for a publisher that never returns")
	}
	if !errors.Is(relay.err, outbox.ErrPublisherStuck) {
		s.Errorf("error %v, want ErrPublisherStuck", relay.err)
	}
	relay.err = nil
	s.wantDepth(outbox.Depth{Waiting: 1})
}

// deafStore never answers anything that settles or releases, except to the end of the context.
type deafStore struct{ outbox.Store }

func (deafStore) Delete(ctx context.Context, _ outbox.Lease, _ []int64) error {
	<-ctx.Done()
	return ctx.Err()
}

func (deafStore) Renew(ctx context.Context, _ outbox.Lease, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

func (deafStore) Release(ctx context.Context, _ outbox.Lease) error {
	<-ctx.Done()
	return ctx.Err()
}

func deafDatabase(s scene) {
	fill(s.T, s.table, "a", 1)
	o := s.options()
	o.Store = deafStore{s.table}
	relay := start(s.T, o)
	after(time.Second)
	begin := time.Now()
	relay.stop()
	<-relay.done
	if took := time.Since(begin); took > 3*time.Second {
		s.Errorf("ended after %v, want within 3 s", took)
	}
	relay.err = nil
	s.wantDepth(outbox.Depth{Waiting: 1})
}

func stopsWithoutDatabase(s scene) {
	s.store.set(func(string) error { return errors.New("database away") })
	relay := start(s.T, s.options())
	after(time.Minute)
	begin := time.Now()
	relay.end(s.T)
	if took := time.Since(begin); took > 0 {
		s.Errorf("ended after %v, want at once", took)
	}
}

func stopsStandingBy(s scene) {
	if _, ok, _ := s.table.Acquire(s.Context(), "other", time.Hour); !ok {
		s.Fatal("not acquired")
	}
	fill(s.T, s.table, "a", 1)
	relay := start(s.T, s.options())
	after(time.Minute)
	relay.end(s.T)
	s.wantSent()
	s.wantDepth(outbox.Depth{Waiting: 1})
}

func startsNoBatch(s scene) {
	want := fill(s.T, s.table, "a", 10)
	o := s.options()
	o.Batch = 1
	s.broker.before = func(context.Context, []outbox.Row) error {
		time.Sleep(500 * time.Millisecond)
		return nil
	}
	relay := start(s.T, o)
	after(1200 * time.Millisecond)
	relay.end(s.T)
	s.wantSent(want[:3]...)
	s.wantDepth(outbox.Depth{Waiting: 7})
}

// settlesLastAnswer gets its answer when the time for publishing is just over.
func settlesLastAnswer(s scene) {
	fill(s.T, s.table, "a", 3)
	s.broker.before = func(ctx context.Context, _ []outbox.Row) error {
		<-ctx.Done()
		return nil
	}
	relay := start(s.T, s.options())
	after(time.Second)
	relay.end(s.T)
	s.wantDepth(outbox.Depth{})
}
