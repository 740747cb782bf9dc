package consume_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/consume"
)

func TestShutdown(t *testing.T) {
	promise(t, "stops_after_the_running_call_and_commits_it", 1, stopsAfterCall)
	promise(t, "ends_a_call_that_outlives_the_grace", 1, endsLongCall)
	promise(t, "stops_in_back_off_at_once", 1, stopsInBackOff)
	promise(t, "stops_while_the_broker_never_answers", 1, stopsWithSilentBroker)
	promise(t, "stops_while_the_broker_never_answers_its_join", 1, stopsWhileJoining)
	promise(t, "stops_if_the_broker_never_answered_at_all", 1, stopsUnheard)
}

// bound is the default of a consumer's grace and of its commit time-out together, and a moment.
const bound = 8*time.Second + 100*time.Millisecond

// closeInTime stops the consumer, which must end within its bound.
func (m *member) closeInTime() {
	m.rig.Helper()
	began := time.Now()
	m.close()
	if took := time.Since(began); took > bound {
		m.rig.Errorf("stopped in %v", took)
	}
}

func stopsAfterCall(r *rig) {
	called, finish := make(chan struct{}), make(chan struct{})
	applied := new(log)
	handler := func(ctx context.Context, records []*kgo.Record) []error {
		close(called)
		<-finish
		if ctx.Err() != nil {
			r.Error("the call was ended within the grace")
		}
		return apply(applied)(ctx, records)
	}
	r.send(values(0, "1", "2", "3")...)
	m := r.start(handler, func(o *consume.Options) { o.BatchSize = 2 })
	next(r.T, called)
	m.stop()
	synctest.Wait()
	close(finish)
	m.close()
	r.expectOffset(0, 2)
	applied.expect(r.T, "1", "2")
	if info := r.cluster.GroupInfo(group); len(info.Members) != 0 {
		r.Errorf("%d members left in the group", len(info.Members))
	}
}

func endsLongCall(r *rig) {
	called := make(chan struct{})
	handler := func(ctx context.Context, records []*kgo.Record) []error {
		close(called)
		<-ctx.Done()
		results := make([]error, len(records)) // the first was done before the end came
		for i := range results[1:] {
			results[i+1] = fmt.Errorf("cut short: %w", errDomain)
		}
		return results
	}
	r.send(values(0, "1", "2", "3")...)
	m := r.start(handler)
	next(r.T, called)
	began := time.Now()
	m.close()
	if took := time.Since(began); took < 5*time.Second || took > 15*time.Second {
		r.Errorf("stopped in %v, with a grace of 5 s", took)
	}
	r.expectOffset(0, 1)
	r.expectDead()
}

func stopsInBackOff(r *rig) {
	r.send(values(0, "1")...)
	m := r.start(new(log).failTimes("1", 1_000_000, errTransient), func(o *consume.Options) {
		o.RetryMin, o.RetryMax = time.Hour, time.Hour
	})
	m.awaitRetry(consume.StepHandle)
	began := time.Now()
	m.close()
	if took := time.Since(began); took > 3*time.Second {
		r.Errorf("stopped in %v", took)
	}
	r.expectOffset(0, -1)
}

func stopsWithSilentBroker(r *rig) {
	called, finish := make(chan struct{}), make(chan struct{})
	m := r.start(func(_ context.Context, records []*kgo.Record) []error {
		close(called)
		<-finish
		return make([]error, len(records))
	})
	r.send(values(0, "1")...)
	next(r.T, called)
	m.wire.silence()
	close(finish)
	synctest.Wait() // the commit is on its way
	m.closeInTime()
	r.expectOffset(0, -1)
}

// stopsWhileJoining has a member that was thrown out of its group ask to join it again.
func stopsWhileJoining(r *rig) {
	applied := new(log)
	m := r.start(apply(applied))
	r.send(values(0, "1")...)
	m.awaitCommit(0, 1)
	m.wire.silence()
	m.awaitLost(kmsg.JoinGroup)
	m.closeInTime()
	applied.expect(r.T, "1")
	r.expectOffset(0, 1)
}

func stopsUnheard(r *rig) {
	deaf := newWire()
	deaf.silence()
	m := r.start(apply(new(log)), func(o *consume.Options) { o.ClientOptions = deaf.through(r.broker) })
	next(r.T, deaf.lost)
	m.closeInTime()
}
