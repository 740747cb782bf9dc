package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kuhnya/outbox"
)

// node is a relay process. Frozen, it does nothing until thawed; killed, nothing of it reaches table or broker again.
type node struct {
	w     *world
	relay *outbox.Relay
	store *faulty
	name  string
	stop  context.CancelFunc
	done  chan struct{}

	mu     sync.Mutex
	dead   bool
	frozen chan struct{}
	held   int64
}

var errGone = errors.New("process is gone")

func (w *world) boot() *node {
	n := &node{w: w, done: make(chan struct{}), name: fmt.Sprint("node ", w.random.Uint64())}
	n.store = &faulty{Store: guarded{w.table, n}, on: func(string) error { return n.pass() }}
	n.relay = outbox.NewRelay(outbox.RelayOptions{Store: n.store, Publisher: n, Owner: n.name, Batch: 4})
	var ctx context.Context
	ctx, n.stop = context.WithCancel(w.ctx)
	go func() {
		defer close(n.done)
		_ = n.relay.Run(ctx) // a killed one can't release its lease
	}()
	return n
}

// pass waits while the process is frozen.
func (n *node) pass() error {
	n.mu.Lock()
	frozen := n.frozen
	n.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dead {
		return errGone
	}
	return nil
}

func (n *node) freeze() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.frozen == nil {
		n.frozen = make(chan struct{})
	}
}

func (n *node) thaw() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.frozen != nil {
		close(n.frozen)
		n.frozen = nil
	}
}

func (n *node) kill() {
	n.mu.Lock()
	n.dead = true
	n.mu.Unlock()
	n.thaw()
	n.stop()
	<-n.done
}

func (n *node) epoch() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held
}

// Publish is the broker as this process reaches it.
func (n *node) Publish(ctx context.Context, rows []outbox.Row) []error {
	errs := make([]error, len(rows))
	failed := make(map[string]bool)
	for i, row := range rows {
		err := errors.Join(n.pass(), ctx.Err())
		switch {
		case err != nil:
		case failed[row.Key]:
			err = errors.New("an earlier row of the key failed")
		default:
			err = n.w.take(row)
		}
		errs[i] = err
		if err != nil && !errors.Is(err, outbox.ErrUnpublishable) {
			failed[row.Key] = true
		}
	}
	return errs
}

// guarded checks each settlement that the table grants.
type guarded struct {
	outbox.Store
	n *node
}

func (g guarded) Acquire(ctx context.Context, owner string, ttl time.Duration) (outbox.Lease, bool, error) {
	lease, ok, err := g.Store.Acquire(ctx, owner, ttl)
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	if ok {
		g.n.held = lease.Epoch
	}
	return lease, ok, err
}

func (g guarded) Delete(ctx context.Context, lease outbox.Lease, ids []int64) error {
	err := g.Store.Delete(ctx, lease, ids)
	for _, id := range ids {
		if err == nil && !g.n.w.acknowledged(id) {
			g.n.w.note(fmt.Errorf("row %d was deleted and never acknowledged", id))
		}
	}
	return err
}
