package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kuhnya/outbox"
	"kuhnya/outbox/outboxtest"
)

// scene is an outbox in memory and a broker, in a bubble of its own time.
type scene struct {
	*testing.T
	table  *outboxtest.Memory
	store  *faulty
	broker *broker
}

func (s scene) options() outbox.RelayOptions {
	return outbox.RelayOptions{Store: s.store, Publisher: s.broker}
}

func (s scene) wantSent(want ...string) {
	s.Helper()
	if diff := cmp.Diff(want, s.broker.got()); diff != "" {
		s.Errorf("published (-want +got):\n%s", diff)
	}
}

func (s scene) wantDepth(want outbox.Depth) {
	s.Helper()
	got := depth(s.T, s.table)
	got.OldestAge = 0
	if got != want {
		s.Errorf("depth %+v, want %+v", got, want)
	}
}

func play(t *testing.T, scenes map[string]func(scene)) {
	for name, act := range scenes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := outboxtest.NewMemory()
				act(scene{t, table, &faulty{Store: table}, &broker{}})
			})
		})
	}
}

func TestRelay(t *testing.T) {
	play(t, map[string]func(scene){
		"publishes_everything_in_order":                 publishesInOrder,
		"publishes_at_once_when_woken":                  publishesWhenWoken,
		"finds_rows_that_nobody_announces":              polls,
		"publishes_a_lower_id_that_commits_later":       publishesLateCommit,
		"publishes_a_late_commit_under_endless_load":    publishesLateCommitUnderLoad,
		"publishes_again_after_a_crash_before_delete":   repeatsAfterCrash,
		"does_not_publish_again_while_delete_fails":     insistsOnDelete,
		"goes_on_after_errors_of_the_store":             survivesStore,
		"deletes_nothing_for_an_answer_of_wrong_length": refusesWrongAnswer,
		"waits_until_drained":                           idles,
		"says_what_is_left_when_not_drained":            idleGivesUp,
	})
}

func publishesInOrder(s scene) {
	want := fill(s.T, s.table, "a", 1200)
	start(s.T, s.options())
	after(0)
	s.wantSent(want...)
	s.wantDepth(outbox.Depth{})
}

func publishesWhenWoken(s scene) {
	relay := start(s.T, s.options())
	after(time.Minute) // the wait between polls has grown
	add(s.T, s.table, msg("a", "1"))
	begin := time.Now()
	for range 10 {
		relay.Wake()
	}
	synctest.Wait()
	s.wantSent("1")
	if took := time.Since(begin); took > 0 {
		s.Errorf("published after %v, want at once", took)
	}
}

func polls(s scene) {
	start(s.T, s.options())
	after(time.Minute)
	add(s.T, s.table, msg("a", "1"))
	after(time.Second)
	want := []string{"1"}
	s.wantSent(want...)
	for i := range 10 { // while rows come the wait becomes short, and stays so
		add(s.T, s.table, msg("a", fmt.Sprint(i)))
		after(200 * time.Millisecond)
		want = append(want, fmt.Sprint(i))
		if i >= 5 {
			s.wantSent(want...)
		}
	}
}

func publishesLateCommit(s scene) {
	early, err := s.table.Begin(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	_ = early.Append(s.Context(), msg("early", "early"))
	add(s.T, s.table, msg("late", "late"))
	start(s.T, s.options())
	after(0)
	s.wantSent("late")
	_ = early.Commit(s.Context())
	after(time.Second)
	s.wantSent("late", "early")
}

// publishesLateCommitUnderLoad appends a full page whenever one is published, so that a pass never finds a short one.
func publishesLateCommitUnderLoad(s scene) {
	early, _ := s.table.Begin(s.Context())
	_ = early.Append(s.Context(), msg("early", "early"))
	o := s.options()
	o.Batch = 2
	calls := 0
	s.broker.before = func(ctx context.Context, _ []outbox.Row) error {
		if calls++; calls == 3 {
			_ = early.Commit(ctx)
		}
		if calls < 100 {
			return s.table.Append(ctx, msg("load", fmt.Sprint(calls)), msg("load", fmt.Sprint(calls)))
		}
		return nil
	}
	fill(s.T, s.table, "a", 2)
	start(s.T, o)
	after(0)
	if at := slices.Index(s.broker.got(), "early"); at < 0 || at > 50 {
		s.Errorf("the late commit was published as row %d of %d, want it among the first", at, len(s.broker.got()))
	}
}

func repeatsAfterCrash(s scene) {
	want := fill(s.T, s.table, "a", 3)
	s.store.set(func(op string) error {
		if op == "delete" {
			return errors.New("connection reset")
		}
		return nil
	})
	first := start(s.T, s.options())
	after(0)
	s.wantSent(want...)
	first.kill(s.store)
	s.wantDepth(outbox.Depth{Waiting: 3})

	o := s.options()
	o.Store = s.table
	start(s.T, o)
	after(4 * time.Second)
	s.wantSent(slices.Concat(want, want)...)
	s.wantDepth(outbox.Depth{})
}

func insistsOnDelete(s scene) {
	want := fill(s.T, s.table, "a", 3)
	deletes := 0
	s.store.set(func(op string) error {
		if op == "delete" {
			deletes++
			return errors.New("disk full")
		}
		return nil
	})
	start(s.T, s.options())
	after(time.Minute)
	s.wantSent(want...)
	if deletes < 20 || deletes > 200 {
		s.Errorf("%d tries to delete in a minute, want some dozens", deletes)
	}
	s.store.set(nil)
	after(3 * time.Second)
	s.wantSent(want...)
	s.wantDepth(outbox.Depth{})
}

func survivesStore(s scene) {
	s.store.set(func(op string) error { return fmt.Errorf("%s: database away", op) })
	relay := start(s.T, s.options())
	after(time.Minute)
	s.store.set(nil)
	add(s.T, s.table, msg("a", "1"))
	after(3 * time.Second)
	s.wantSent("1")

	s.store.set(func(op string) error {
		if op == "pending" {
			return errors.New("database away")
		}
		return nil
	})
	relay.Wake()
	after(time.Minute)
	add(s.T, s.table, msg("a", "2"))
	s.store.set(nil)
	after(3 * time.Second)
	s.wantSent("1", "2")
}

type mute struct{}

func (mute) Publish(context.Context, []outbox.Row) []error { return nil }

func refusesWrongAnswer(s scene) {
	fill(s.T, s.table, "a", 3)
	o := s.options()
	o.Publisher = mute{}
	start(s.T, o)
	after(time.Minute)
	s.wantDepth(outbox.Depth{Waiting: 3})
}

func idles(s scene) {
	s.broker.before = func(context.Context, []outbox.Row) error {
		time.Sleep(7 * time.Second)
		return nil
	}
	relay := start(s.T, s.options())
	after(time.Minute) // the wait between polls has grown
	want := fill(s.T, s.table, "a", 3)
	begin := time.Now()
	if err := relay.Idle(s.Context()); err != nil {
		s.Error(err)
	}
	s.wantSent(want...)
	if took := time.Since(begin); took > 7*time.Second+50*time.Millisecond {
		s.Errorf("drained after %v, want it as soon as the broker had answered", took)
	}
}

func idleGivesUp(s scene) {
	fill(s.T, s.table, "a", 3)
	ctx, cancel := context.WithTimeout(s.Context(), time.Second)
	defer cancel()
	err := outbox.NewRelay(s.options()).Idle(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "3 rows wait") {
		s.Errorf("error %v, want the deadline and the number of rows", err)
	}
}
