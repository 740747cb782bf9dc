package consume_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
)

func TestRetry(t *testing.T) {
	promise(t, "of_a_transient_error_goes_on_from_that_record", 1, goesOnFromTransient)
	promise(t, "survives_a_crash", 1, survivesCrash)
	promise(t, "commits_what_came_before", 1, commitsWhatCameBefore)
	promise(t, "holds_up_no_other_partition", 2, holdsUpNoOther)
	promise(t, "of_an_unclassified_error_ends_after_five_tries", 1, fiveTries)
	promise(t, "of_a_panic_hits_the_guilty_record_alone", 1, panicHitsGuilty)
	promise(t, "of_a_wrong_number_of_results_ends_after_five_tries", 1, wrongNumberOfResults)
}

func goesOnFromTransient(r *rig) {
	applied := new(log)
	r.send(values(0, "1", "2", "3")...)
	r.start(applied.failTimes("2", 20, errTransient)).awaitCommit(0, 3)
	applied.expect(r.T, "1", "2", "3")
	r.expectDead()
}

func survivesCrash(r *rig) {
	r.send(values(0, "1", "2", "3")...)
	first := r.start(new(log).failTimes("1", 1_000_000, errTransient))
	for range 3 {
		first.awaitRetry(consume.StepHandle)
	}
	first.crash()
	r.expectOffset(0, -1)

	applied := new(log)
	r.start(applied.failTimes("", 0, nil)).awaitCommit(0, 3)
	applied.expect(r.T, "1", "2", "3")
}

func commitsWhatCameBefore(r *rig) {
	r.send(values(0, "1", "2", "3")...)
	m := r.start(new(log).failTimes("3", 1_000_000, errTransient))
	m.awaitCommit(0, 2)
	r.expectOffset(0, 2)
	if state := m.consumer.State()[0]; state.BlockedSince.IsZero() || state.HighWatermark != 3 {
		r.Errorf("state %+v, want blocked, with a high watermark of 3", state)
	}
}

func holdsUpNoOther(r *rig) {
	r.send(values(0, "stuck")...)
	m := r.start(new(log).failTimes("stuck", 1_000_000, errTransient))
	m.awaitRetry(consume.StepHandle)
	for i := range 3 {
		r.send(values(1, fmt.Sprint(i))...)
		m.awaitCommit(1, int64(i+1))
	}
	r.expectOffset(0, -1)
}

func fiveTries(r *rig) {
	applied := new(log)
	r.send(values(0, "1", "2", "3")...)
	r.start(applied.failTimes("2", 1_000_000, errors.New("what is this"))).awaitCommit(0, 3)
	row := r.expectDead(1)[0]
	if row.Attempts != 5 || row.ErrorCode != consume.CodeInternal || row.ErrorMessage != "what is this" {
		r.Errorf("dead after %d tries with %s: %s", row.Attempts, row.ErrorCode, row.ErrorMessage)
	}
}

func panicHitsGuilty(r *rig) {
	applied := new(log)
	var panics atomic.Int32
	r.send(values(0, "1", "2", "guilty", "3", "4")...)
	handler := func(_ context.Context, records []*kgo.Record) []error {
		for _, record := range records {
			if string(record.Value) == "guilty" {
				if len(records) == 1 {
					panics.Add(1)
				}
				panic("index out of range")
			}
		}
		for _, record := range records {
			applied.add(record)
		}
		return make([]error, len(records))
	}
	r.start(handler).awaitCommit(0, 5)
	applied.expect(r.T, "1", "2", "3", "4")
	row := r.expectDead(2)[0]
	if row.Attempts != 5 || panics.Load() != 5 || row.ErrorCode != consume.CodeInternal {
		r.Errorf("dead after %d attempts and %d panics with %s", row.Attempts, panics.Load(), row.ErrorCode)
	}
}

func wrongNumberOfResults(r *rig) {
	r.send(values(0, "1")...)
	handler := func(context.Context, []*kgo.Record) []error { return nil }
	r.start(handler).awaitCommit(0, 1)
	if row := r.expectDead(0)[0]; row.Attempts != 5 || row.ErrorCode != consume.CodeInternal {
		r.Errorf("dead after %d attempts with %s", row.Attempts, row.ErrorCode)
	}
}
