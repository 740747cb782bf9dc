package consume_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/consume"
)

// member is a running consumer.
type member struct {
	rig       *rig
	consumer  *consume.Consumer
	stop      context.CancelFunc
	ended     chan error
	committed chan string
	retried   chan consume.Step
	wire      *wire
}

// start runs a consumer with handler; change may replace options.
func (r *rig) start(handler consume.Handler, change ...func(*consume.Options)) *member {
	r.Helper()
	m := &member{rig: r, ended: make(chan error, 1), wire: newWire(),
		committed: make(chan string, 10_000), retried: make(chan consume.Step, 10_000)}
	options := consume.Options{
		Group: group, Topics: []string{topic}, Handler: handler, Classify: classify, DeadLetters: r.store,
		ClientOptions: m.wire.through(r.broker), DeadLetterOptions: m.wire.through(r.broker),
		Events: consume.Events{
			Committed: func(p consume.Partition, next int64) { m.committed <- fmt.Sprintf("%d:%d", p.ID, next) },
			Retried:   func(_ consume.Partition, step consume.Step, _ error) { m.retried <- step },
		},
	}
	for _, c := range change {
		c(&options)
	}
	var err error
	if m.consumer, err = consume.New(options); err != nil {
		r.Fatalf("new: %v", err)
	}
	ctx, cancel := context.WithCancel(r.Context())
	m.stop = cancel
	go func() { m.ended <- m.consumer.Run(ctx) }()
	r.Cleanup(func() { m.close() })
	return m
}

// close stops the consumer in good order and waits for its end; a second call does nothing.
func (m *member) close() {
	m.stop()
	if err, ok := <-m.ended; ok && err != nil {
		m.rig.Errorf("run: %v", err)
	} else if ok {
		close(m.ended)
	}
}

// crash leaves the consumer without a network, so that nothing it does reaches a broker any more, and ends it.
func (m *member) crash() {
	m.wire.cut()
	m.close()
}

// awaitCommit waits until the consumer has committed next in the partition.
func (m *member) awaitCommit(partition int32, next int64) {
	m.rig.Helper()
	want := fmt.Sprintf("%d:%d", partition, next)
	for got := range receive(m.rig.T, m.committed) {
		if got == want {
			return
		}
	}
}

// awaitLost waits until a request of the kind has vanished on the silent wire.
func (m *member) awaitLost(kind kmsg.Key) {
	m.rig.Helper()
	for got := range receive(m.rig.T, m.wire.lost) {
		if got == kind {
			return
		}
	}
}

func (m *member) awaitRetry(step consume.Step) {
	m.rig.Helper()
	for got := range receive(m.rig.T, m.retried) {
		if got == step {
			return
		}
	}
}

// receive yields what comes out of a channel and fails the test after ten minutes on the bubble's clock.
func receive[T any](t *testing.T, ch <-chan T) func(func(T) bool) {
	return func(yield func(T) bool) {
		t.Helper()
		for {
			select {
			case v := <-ch:
				if !yield(v) {
					return
				}
			case <-time.After(10 * time.Minute):
				t.Fatal("what the test waits for does not happen")
			}
		}
	}
}

func next[T any](t *testing.T, ch <-chan T) (v T) {
	t.Helper()
	for v = range receive(t, ch) {
		break
	}
	return v
}
