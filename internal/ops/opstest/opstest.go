// Package opstest is the suite for what people do to dead letters: the rules of package ops over a store and the outbox
// of the same database. A new engine is handed to [DeadLetters] and to nothing else.
package opstest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/consume"
	"kuhnya/internal/fault"
	"kuhnya/internal/ops"
	"kuhnya/outbox"
)

// Engine is a fresh database behind a store of dead letters.
type Engine struct {
	Store  ops.DeadLetterStore
	Save   func(context.Context, consume.DeadLetter) error // as the consumer does
	Outbox outbox.Store                                    // of the same database
}

// DeadLetters runs the suite. open makes a fresh database for each test.
func DeadLetters(t *testing.T, open func(*testing.T) Engine) {
	for name, test := range map[string]func(*testing.T, *world){
		"Redrive/sends_the_record_as_it_was_to_its_group":   sendsTheRecord,
		"Redrive/keeps_what_is_absent_absent":               keepsAbsence,
		"Redrive/sends_once_however_often_it_is_asked_for":  sendsOnce,
		"Redrive/sends_once_for_many_at_once":               sendsOnceForMany,
		"Redrive/refuses_what_was_discarded":                refusesDiscarded,
		"Redrive/refuses_a_record_sent_again_five_times":    refusesAtTheLimit,
		"Redrive/knows_no_other_dead_letters":               knowsNoOthers,
		"Redrive/changes_nothing_where_nothing_can_be_sent": changesNothing,
		"Discard/keeps_the_first_reason":                    keepsFirstReason,
		"Discard/refuses_what_was_redriven":                 refusesRedriven,
		"Discard/wants_a_reason":                            wantsReason,
		"Discard/or_redrive_wins_never_both":                oneWins,
		"List/pages_through_each_state":                     pages,
		"List/leaves_out_what_may_be_large":                 leavesOut,
		"List/cuts_long_keys":                               cutsKeys,
		"Count/counts_each_state":                           counts,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := open(t)
			w := &world{T: t, engine: engine}
			w.rules = ops.NewDeadLetters(engine.Store, func() { w.woken.Add(1) })
			test(t, w)
		})
	}
}

type world struct {
	*testing.T
	engine Engine
	rules  *ops.DeadLetters
	woken  atomic.Int64
	saved  int64
}

func record() consume.DeadLetter {
	return consume.DeadLetter{
		Group: "kitchen", Topic: "test.establishment-statuses", Partition: 3, Offset: 17,
		Key: []byte("0199f3a0-0000-7000-8000-000000000001"), Value: []byte("{\xff"),
		Headers: []consume.Header{
			{Key: "ce_id", Value: []byte("0199f3a0-0000-7000-8000-000000000002")},
			{Key: "idempotency-key", Value: []byte("0199f3a0-0000-7000-8000-000000000001:accepted")},
			{Key: "twice", Value: []byte("1")}, {Key: "twice", Value: []byte("2")}, {Key: "absent"}, {Key: "empty", Value: []byte{}},
		},
		ErrorCode: "not_found", ErrorMessage: "no such order", Attempts: 1,
		FailedAt: time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC),
	}
}

// save saves a dead letter at an offset of its own and returns it as the store has it.
func (w *world) save(letter consume.DeadLetter) ops.DeadLetter {
	w.Helper()
	w.saved++
	letter.Offset = w.saved
	w.must(w.engine.Save(w.Context(), letter))
	for _, l := range w.list("", uuid.Nil, 1000) {
		if l.Offset == letter.Offset {
			return w.find(l.ID)
		}
	}
	w.Fatal("a saved dead letter is not listed")
	return ops.DeadLetter{}
}

func (w *world) find(id uuid.UUID) ops.DeadLetter {
	w.Helper()
	letter, found, err := w.engine.Store.DeadLetter(w.Context(), id)
	w.must(err)
	if !found {
		w.Fatal("a dead letter is not found")
	}
	return letter
}

func (w *world) list(state ops.State, after uuid.UUID, limit int) []ops.Summary {
	w.Helper()
	letters, err := w.engine.Store.DeadLetters(w.Context(), state, after, limit)
	w.must(err)
	return letters
}

// sent is what waits in the outbox, without the ids that its rows get.
func (w *world) sent() (messages []outbox.Message) {
	w.Helper()
	rows, err := w.engine.Outbox.Pending(w.Context(), 0, 1000)
	w.must(err)
	for _, row := range rows {
		row.EventID = uuid.Nil
		messages = append(messages, row.Message)
	}
	return messages
}

func (w *world) mustHaveSent(n int) {
	w.Helper()
	if sent := w.sent(); len(sent) != n {
		w.Fatalf("%d messages in the outbox, want %d", len(sent), n)
	}
}

func (w *world) mustStandAt(id uuid.UUID, state ops.State, reason string) {
	w.Helper()
	if letter := w.find(id); letter.State != state || letter.Reason != reason {
		w.Fatalf("dead letter is %q for %q, want %q for %q", letter.State, letter.Reason, state, reason)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) mustRefuse(err error, code fault.Code) {
	w.Helper()
	if fault.CodeOf(err) != code {
		w.Fatalf("got %v, want %s", err, code)
	}
}

func (w *world) mustRedrive(id uuid.UUID) {
	w.Helper()
	letter, err := w.rules.Redrive(w.Context(), id)
	w.must(err)
	if letter.ID != id || letter.State != ops.Redriven {
		w.Fatalf("answered with %s, %s", letter.ID, letter.State)
	}
}

// inParallel runs f n times at once and returns when all have ended.
func inParallel(n int, f func(i int)) {
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		done.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	done.Wait()
}
