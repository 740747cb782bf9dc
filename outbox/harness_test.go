package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"kuhnya/outbox"
	"kuhnya/outbox/outboxtest"
)

// broker is a publisher that remembers, in order, what it acknowledged, and misbehaves as told.
type broker struct {
	mu   sync.Mutex
	sent []string
	// before, if set, runs before rows are taken: to block, to fail a whole call, or to watch it.
	before func(ctx context.Context, rows []outbox.Row) error
	// refuse, if set, decides about one row.
	refuse func(row outbox.Row) error
}

var errAway = errors.New("broker away")

func (b *broker) Publish(ctx context.Context, rows []outbox.Row) []error {
	errs := make([]error, len(rows))
	if before := b.hook(); before != nil {
		if err := before(ctx, rows); err != nil {
			for i := range errs {
				errs[i] = err
			}
			return errs
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	failed := make(map[string]bool)
	for i, row := range rows {
		if errs[i] = b.judge(row, failed[row.Key]); errs[i] == nil {
			b.sent = append(b.sent, string(row.Payload))
		} else if !errors.Is(errs[i], outbox.ErrUnpublishable) {
			failed[row.Key] = true
		}
	}
	return errs
}

func (b *broker) judge(row outbox.Row, keyFailed bool) error {
	switch {
	case keyFailed:
		return errors.New("an earlier row of the key failed")
	case b.refuse != nil:
		return b.refuse(row)
	}
	return nil
}

func (b *broker) hook() func(context.Context, []outbox.Row) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.before
}

// heal ends all misbehaviour.
func (b *broker) heal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before, b.refuse = nil, nil
}

// away makes the broker refuse everything, and counts its refusals.
func (b *broker) away(tries *atomic.Int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = func(outbox.Row) error {
		tries.Add(1)
		return errAway
	}
}

func (b *broker) got() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sent)
}

// process is a running relay.
type process struct {
	*outbox.Relay
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// start runs a relay until stopped, at the latest when the test ends.
func start(t *testing.T, o outbox.RelayOptions) *process {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p := &process{Relay: outbox.NewRelay(o), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = p.Run(ctx)
	}()
	t.Cleanup(func() { p.end(t) })
	return p
}

// end stops the relay and waits for it.
func (p *process) end(t *testing.T) {
	t.Helper()
	p.stop()
	<-p.done
	if p.err != nil {
		t.Errorf("relay ended with %v", p.err)
	}
}

// kill ends a relay as kill -9 would: from one moment to the next nothing of it reaches the store.
func (p *process) kill(store *faulty) {
	store.set(func(string) error { return errors.New("process is gone") })
	p.stop()
	<-p.done
	p.err = nil
}

// faulty lets a test stand between a relay and its store.
type faulty struct {
	outbox.Store
	mu sync.Mutex
	on func(op string) error // nil: no fault
}

func (f *faulty) set(on func(op string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = on
}

func (f *faulty) hit(op string) error {
	f.mu.Lock()
	on := f.on
	f.mu.Unlock()
	if on == nil {
		return nil
	}
	return on(op)
}

func (f *faulty) Acquire(ctx context.Context, owner string, ttl time.Duration) (outbox.Lease, bool, error) {
	if err := f.hit("acquire"); err != nil {
		return outbox.Lease{}, false, err
	}
	return f.Store.Acquire(ctx, owner, ttl)
}

func (f *faulty) Renew(ctx context.Context, lease outbox.Lease, ttl time.Duration) error {
	if err := f.hit("renew"); err != nil {
		return err
	}
	return f.Store.Renew(ctx, lease, ttl)
}

func (f *faulty) Release(ctx context.Context, lease outbox.Lease) error {
	if err := f.hit("release"); err != nil {
		return err
	}
	return f.Store.Release(ctx, lease)
}

func (f *faulty) Pending(ctx context.Context, after int64, limit int) ([]outbox.Row, error) {
	if err := f.hit("pending"); err != nil {
		return nil, err
	}
	return f.Store.Pending(ctx, after, limit)
}

func (f *faulty) Delete(ctx context.Context, lease outbox.Lease, ids []int64) error {
	if err := f.hit("delete"); err != nil {
		return err
	}
	return f.Store.Delete(ctx, lease, ids)
}

func (f *faulty) Park(ctx context.Context, lease outbox.Lease, id int64, reason string) error {
	if err := f.hit("park"); err != nil {
		return err
	}
	return f.Store.Park(ctx, lease, id, reason)
}

func msg(key, payload string) outbox.Message {
	return outbox.Message{EventID: uuid.New(), Topic: "orders", Key: key, Payload: []byte(payload)}
}

// fill appends n rows of one key, called key/0, key/1 and so on.
func fill(t *testing.T, m *outboxtest.Memory, key string, n int) []string {
	t.Helper()
	names := make([]string, n)
	messages := make([]outbox.Message, n)
	for i := range n {
		names[i] = fmt.Sprintf("%s/%d", key, i)
		messages[i] = msg(key, names[i])
	}
	add(t, m, messages...)
	return names
}

func add(t *testing.T, m *outboxtest.Memory, messages ...outbox.Message) {
	t.Helper()
	if err := m.Append(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
}

func depth(t *testing.T, m *outboxtest.Memory) outbox.Depth {
	t.Helper()
	d, err := m.Depth(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// after lets d pass and everything that becomes due in it happen.
func after(d time.Duration) {
	time.Sleep(d) // the bubble's clock: no real time passes
	synctest.Wait()
}
