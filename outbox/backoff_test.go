package outbox_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"kuhnya/outbox"
)

func TestRelayBacksOff(t *testing.T) {
	play(t, map[string]func(scene){
		"holds_later_rows_of_a_failed_key_while_others_go": holdsKey,
		"steps_over_pages_full_of_a_failed_key":            stepsOverPages,
		"lets_no_key_in_halfway_through_a_pass":            keepsOrderWithinPass,
		"tries_a_failing_key_ever_less_often":              growsForKey,
		"tries_a_broker_that_is_away_ever_less_often":      growsForBroker,
		"starts_over_after_a_success":                      startsOver,
		"remembers_a_bounded_number_of_failing_keys":       boundsMemory,
		"does_not_delay_others_for_one_failing_key":        failingKeyDelaysNobody,
	})
}

func refuseKey(key string) func(outbox.Row) error {
	return func(row outbox.Row) error {
		if row.Key == key {
			return errAway
		}
		return nil
	}
}

func holdsKey(s scene) {
	add(s.T, s.table, msg("a", "a1"), msg("b", "b1"), msg("a", "a2"), msg("b", "b2"))
	s.broker.refuse = refuseKey("a")
	o := s.options()
	o.Batch = 2 // a2 is on another page than a1
	start(s.T, o)
	after(time.Minute)
	s.wantSent("b1", "b2")
	s.broker.heal()
	after(4 * time.Second)
	s.wantSent("b1", "b2", "a1", "a2")
	s.wantDepth(outbox.Depth{})
}

func stepsOverPages(s scene) {
	bad := fill(s.T, s.table, "bad", 1600)
	good := fill(s.T, s.table, "good", 700)
	s.broker.refuse = refuseKey("bad")
	start(s.T, s.options())
	after(0)
	s.wantSent(good...)
	s.wantDepth(outbox.Depth{Waiting: 1600})
	s.broker.heal()
	after(4 * time.Second)
	s.wantSent(slices.Concat(good, bad)...)
}

// keepsOrderWithinPass makes a hold run out while the pass that saw it is still publishing other keys.
func keepsOrderWithinPass(s scene) {
	add(s.T, s.table, msg("a", "a1"), msg("x", "x1"), msg("y", "y1"), msg("a", "a2"))
	first := true
	s.broker.refuse = func(row outbox.Row) error {
		if string(row.Payload) == "a1" && first {
			first = false
			return errAway
		}
		return nil
	}
	s.broker.before = func(context.Context, []outbox.Row) error {
		time.Sleep(5 * time.Second)
		return nil
	}
	o := s.options()
	o.Batch = 1
	start(s.T, o)
	after(time.Minute)
	s.wantSent("x1", "y1", "a1", "a2")
}

func growsForKey(s scene) {
	add(s.T, s.table, msg("a", "a1"))
	var tries atomic.Int64
	s.broker.away(&tries)
	start(s.T, s.options())
	after(time.Second)
	if n := tries.Swap(0); n < 2 || n > 8 {
		s.Errorf("%d tries in the first second, want a few", n)
	}
	after(time.Minute)
	if n := tries.Load(); n < 15 || n > 60 {
		s.Errorf("%d tries in the minute after, want one every 1 to 4 s", n)
	}
}

// growsForBroker has work for a batch at any time, and wake-ups all the time.
func growsForBroker(s scene) {
	var calls atomic.Int64
	s.broker.before = func(context.Context, []outbox.Row) error {
		calls.Add(1)
		return errAway
	}
	relay := start(s.T, s.options())
	for i := range 6000 {
		add(s.T, s.table, msg(string(rune('a'+i%7919)), "x"), msg(string(rune('b'+i%7919)), "x"))
		relay.Wake()
		after(10 * time.Millisecond)
	}
	if n := calls.Load(); n > 150 {
		s.Errorf("%d calls in a minute of outage", n)
	}
	s.broker.heal()
	after(5 * time.Second)
	s.wantDepth(outbox.Depth{})
}

func failingKeyDelaysNobody(s scene) {
	add(s.T, s.table, msg("bad", "bad"))
	s.broker.refuse = refuseKey("bad")
	relay := start(s.T, s.options())
	after(time.Minute)
	for _, name := range []string{"1", "2", "3"} {
		add(s.T, s.table, msg("good", name))
		relay.Wake()
		after(0)
	}
	s.wantSent("1", "2", "3")
}

func startsOver(s scene) {
	add(s.T, s.table, msg("a", "1"))
	s.broker.refuse = refuseKey("a")
	relay := start(s.T, s.options())
	after(time.Minute)
	s.broker.heal()
	after(4 * time.Second)
	s.wantSent("1")

	var tries atomic.Int64
	s.broker.away(&tries)
	add(s.T, s.table, msg("a", "2"))
	relay.Wake()
	after(200 * time.Millisecond)
	if n := tries.Load(); n < 2 {
		s.Errorf("%d tries in 200 ms, want a second one after 50 to 150 ms", n)
	}
}

func boundsMemory(s scene) {
	const rows = 20_000
	messages := make([]outbox.Message, rows)
	for i := range messages {
		messages[i] = msg(fmt.Sprint(i), "x")
	}
	add(s.T, s.table, messages...)
	tried := make(map[string]bool)
	s.broker.refuse = func(row outbox.Row) error {
		tried[row.Key] = true
		return errAway
	}
	start(s.T, s.options())
	after(3 * time.Minute)
	if n := len(tried); n < 16_000 || n > 17_000 {
		s.Errorf("%d failing keys were tried, want about 16384", n)
	}
	s.broker.heal()
	after(10 * time.Second)
	s.wantDepth(outbox.Depth{})
}
