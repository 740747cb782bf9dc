package outbox_test

import (
	"sync/atomic"
	"testing"
	"time"

	"kuhnya/outbox"
)

func TestFailingSince(t *testing.T) {
	play(t, map[string]func(scene){
		"is_the_first_of_the_failures_until_one_row_gets_through": failsUntilSomeGetThrough,
		"is_over_with_the_lease":                                  failsNoMoreWithoutLease,
		"knows_nothing_of_rows_that_are_parked":                   parkingIsNoFailure,
	})
}

func (s scene) wantFailing(p *process, since time.Time) {
	s.Helper()
	if got := p.FailingSince(); !got.Equal(since) {
		s.Errorf("failing since %v, want %v", got, since)
	}
}

func failsUntilSomeGetThrough(s scene) {
	s.broker.away(new(atomic.Int64))
	relay := start(s.T, s.options())
	after(time.Minute)
	s.wantFailing(relay, time.Time{}) // nobody knows before there is something to publish

	add(s.T, s.table, msg("a", "1"), msg("b", "2"))
	relay.Wake()
	after(0)
	began := time.Now()
	after(time.Minute)
	s.wantFailing(relay, began)

	s.broker.heal()
	s.broker.refuse = func(row outbox.Row) error { return map[string]error{"b": errAway}[row.Key] }
	add(s.T, s.table, msg("c", "3"))
	for len(s.broker.got()) < 2 {
		after(time.Millisecond)
	}
	s.wantFailing(relay, time.Time{})
}

func failsNoMoreWithoutLease(s scene) {
	s.broker.away(new(atomic.Int64))
	add(s.T, s.table, msg("a", "1"))
	relay := start(s.T, s.options())
	after(time.Second)
	if relay.FailingSince().IsZero() {
		s.Error("not failing")
	}
	relay.end(s.T)
	s.wantFailing(relay, time.Time{})
}

func parkingIsNoFailure(s scene) {
	s.broker.refuse = func(outbox.Row) error { return outbox.ErrUnpublishable }
	add(s.T, s.table, msg("a", "1"))
	relay := start(s.T, s.options())
	after(0)
	s.wantFailing(relay, time.Time{})
}
