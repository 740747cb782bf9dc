package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"kuhnya/outbox"
	"kuhnya/outbox/outboxtest"
)

// world is one table, one broker and two relay processes.
type world struct {
	ctx   context.Context
	table *outboxtest.Memory

	mu     sync.Mutex
	random *rand.Rand
	rate   float64 // of rows that the broker refuses or loses the answer for
	log    []outbox.Row
	acked  map[int64]bool
	faults []string

	open   map[string]outboxtest.Tx // a key with an open transaction is locked: others wait, here by doing nothing
	relays [2]*node
}

func runWorld(ctx context.Context, seed uint64, steps []step) []string {
	w := &world{
		ctx: ctx, table: outboxtest.NewMemory(), random: rand.New(rand.NewPCG(seed, seed)),
		acked: make(map[int64]bool), open: make(map[string]outboxtest.Tx),
	}
	for i := range w.relays {
		w.relays[i] = w.boot()
	}
	for _, s := range steps {
		w.do(s)
		after(s.Wait)
	}
	w.settleDown()
	w.check()
	return w.faults
}

func (w *world) do(s step) {
	key := fmt.Sprint("k", s.Key)
	node := w.relays[s.Key%2]
	switch s.Do {
	case "append":
		w.append(key, s.Count, "good")
	case "poison":
		w.append(key, 1, "poison")
	case "begin":
		w.begin(key, s.Count)
	case "commit":
		w.commit(key)
	case "fail":
		w.setRate(float64(s.Count) / 10)
	case "away":
		w.setRate(1)
	case "heal":
		w.setRate(0)
	case "freeze":
		node.freeze()
	case "thaw":
		node.thaw()
	case "kill":
		node.kill()
		w.relays[s.Key%2] = w.boot()
	case "lose": // the lease passes to nobody, as if another relay had held it for a moment
		_ = w.table.Release(w.ctx, outbox.Lease{Owner: node.name, Epoch: node.epoch()})
	}
}

func (w *world) append(key string, n int, payload string) {
	if w.open[key] != nil {
		return
	}
	for range n {
		w.note(w.table.Append(w.ctx, msg(key, payload)))
	}
	w.relays[0].relay.Wake()
}

func (w *world) begin(key string, n int) {
	if w.open[key] != nil {
		return
	}
	tx, err := w.table.Begin(w.ctx)
	w.note(err)
	for range n {
		w.note(tx.Append(w.ctx, msg(key, "good")))
	}
	w.open[key] = tx
}

func (w *world) commit(key string) {
	if tx := w.open[key]; tx != nil {
		w.note(tx.Commit(w.ctx))
		delete(w.open, key)
	}
}

func (w *world) setRate(rate float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rate = rate
}

// settleDown ends all trouble and gives the relays time to finish.
func (w *world) settleDown() {
	for key := range w.open {
		w.commit(key)
	}
	w.setRate(0)
	for _, n := range w.relays {
		n.thaw()
	}
	after(time.Minute)
	for _, n := range w.relays {
		n.stop()
		<-n.done
	}
}

func (w *world) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.faults = append(w.faults, err.Error())
	}
}

func (w *world) check() {
	d, err := w.table.Depth(w.ctx)
	w.note(err)
	if d.Waiting > 0 {
		w.note(fmt.Errorf("%d rows were left in the table", d.Waiting))
	}
	parked, err := w.table.Parked(w.ctx)
	w.note(err)
	for _, p := range parked {
		if string(p.Row.Payload) != "poison" {
			w.note(fmt.Errorf("row %d was parked", p.Row.ID))
		}
	}
	first := make(map[string][]int64)
	seen := make(map[int64]bool)
	for _, row := range w.log {
		if !seen[row.ID] {
			seen[row.ID] = true
			first[row.Key] = append(first[row.Key], row.ID)
		}
	}
	for key, got := range first {
		if !slices.IsSorted(got) {
			w.note(fmt.Errorf("key %s was published in the order %v", key, got))
		}
	}
}

// take is the broker's answer to one row: taken, refused, or taken while the answer is lost.
func (w *world) take(row outbox.Row) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if string(row.Payload) == "poison" {
		return outbox.ErrUnpublishable
	}
	luck := w.random.Float64()
	if luck < w.rate && luck < 0.7 {
		return errAway
	}
	w.log = append(w.log, row)
	if luck < w.rate {
		return errors.New("answer lost")
	}
	w.acked[row.ID] = true
	return nil
}

func (w *world) acknowledged(id int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acked[id]
}
