package outboxtest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"kuhnya/outbox"
)

// Memory is an outbox in memory, a true [outbox.Store] that passes this suite. It is for tests and examples of what is
// built on an outbox, and it lasts as long as its process. Its clock is [time.Now], so testing/synctest moves it.
type Memory struct {
	mu     sync.Mutex
	lastID int64
	rows   []outbox.Row // by id
	parked []Parked
	lease  outbox.Lease
	until  time.Time
}

var _ outbox.Store = (*Memory)(nil)

// NewMemory returns an empty outbox.
func NewMemory() *Memory {
	return new(Memory)
}

// Append commits messages in one transaction.
func (m *Memory) Append(ctx context.Context, messages ...outbox.Message) error {
	tx, err := m.Begin(ctx)
	if err != nil {
		return err
	}
	if err := tx.Append(ctx, messages...); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// Begin starts a transaction. As with a database's sequence its rows get their ids when they are appended and appear
// when it commits, so a lower id may appear after a higher one.
func (m *Memory) Begin(ctx context.Context) (Tx, error) {
	return &memoryTx{store: m}, ctx.Err()
}

// memoryTx belongs to one goroutine, as transactions do.
type memoryTx struct {
	store *Memory
	rows  []outbox.Row
}

func (tx *memoryTx) Append(ctx context.Context, messages ...outbox.Message) error {
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	for _, message := range messages {
		tx.store.lastID++
		tx.rows = append(tx.rows, outbox.Row{Message: clone(message), ID: tx.store.lastID, CreatedAt: time.Now()})
	}
	return ctx.Err()
}

func (tx *memoryTx) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	tx.store.rows = append(tx.store.rows, tx.rows...)
	slices.SortFunc(tx.store.rows, func(a, b outbox.Row) int { return cmp.Compare(a.ID, b.ID) })
	tx.rows = nil
	return nil
}

func (tx *memoryTx) Rollback(context.Context) error {
	tx.rows = nil
	return nil
}

// Acquire implements [outbox.Store].
func (m *Memory) Acquire(ctx context.Context, owner string, ttl time.Duration) (outbox.Lease, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil || time.Now().Before(m.until) {
		return outbox.Lease{}, false, err
	}
	m.lease = outbox.Lease{Owner: owner, Epoch: m.lease.Epoch + 1}
	m.until = time.Now().Add(ttl)
	return m.lease, true, nil
}

// Renew implements [outbox.Store].
func (m *Memory) Renew(ctx context.Context, lease outbox.Lease, ttl time.Duration) error {
	return m.under(ctx, lease, func() { m.until = time.Now().Add(ttl) })
}

// Release implements [outbox.Store].
func (m *Memory) Release(ctx context.Context, lease outbox.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease == lease {
		m.lease.Owner, m.until = "", time.Time{}
	}
	return ctx.Err()
}

// Pending implements [outbox.Store].
func (m *Memory) Pending(ctx context.Context, after int64, limit int) ([]outbox.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := m.rows[m.find(after+1):]
	rows = slices.Clone(rows[:min(limit, len(rows))])
	for i := range rows {
		rows[i].Message = clone(rows[i].Message)
	}
	return rows, ctx.Err()
}

// Delete implements [outbox.Store].
func (m *Memory) Delete(ctx context.Context, lease outbox.Lease, ids []int64) error {
	return m.under(ctx, lease, func() {
		gone := make(map[int64]bool, len(ids))
		for _, id := range ids {
			gone[id] = true
		}
		m.rows = slices.DeleteFunc(m.rows, func(row outbox.Row) bool { return gone[row.ID] })
	})
}

// Park implements [outbox.Store].
func (m *Memory) Park(ctx context.Context, lease outbox.Lease, id int64, reason string) error {
	return m.under(ctx, lease, func() {
		if i := m.find(id); i < len(m.rows) && m.rows[i].ID == id {
			m.parked = append(m.parked, Parked{Row: m.rows[i], Reason: reason})
			m.rows = slices.Delete(m.rows, i, i+1)
		}
	})
}

// Depth implements [outbox.Store].
func (m *Memory) Depth(ctx context.Context) (outbox.Depth, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	depth := outbox.Depth{Waiting: int64(len(m.rows)), Parked: int64(len(m.parked))}
	for _, row := range m.rows {
		depth.OldestAge = max(depth.OldestAge, time.Since(row.CreatedAt))
	}
	return depth, ctx.Err()
}

// Parked returns the parked rows in the order of their ids.
func (m *Memory) Parked(ctx context.Context) ([]Parked, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	parked := slices.Clone(m.parked)
	slices.SortFunc(parked, func(a, b Parked) int { return cmp.Compare(a.Row.ID, b.Row.ID) })
	return parked, ctx.Err()
}

// find is the place of the first row whose id is at least id.
func (m *Memory) find(id int64) int {
	return sort.Search(len(m.rows), func(i int) bool { return m.rows[i].ID >= id })
}

// under runs change if lease is the one in force, as one step.
func (m *Memory) under(ctx context.Context, lease outbox.Lease, change func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.lease != lease {
		return fmt.Errorf("epoch %d, in force %d: %w", lease.Epoch, m.lease.Epoch, outbox.ErrLeaseLost)
	}
	change()
	return nil
}

// clone copies a message, so that no caller can reach into the table. It keeps nil apart from empty.
func clone(message outbox.Message) outbox.Message {
	message.Payload = bytes.Clone(message.Payload)
	message.Headers = slices.Clone(message.Headers)
	for i, h := range message.Headers {
		message.Headers[i].Value = bytes.Clone(h.Value)
	}
	return message
}
