package consume

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// progress is how far a partition has come. Offsets are those of the record to come next.
type progress struct {
	mu        sync.Mutex
	known     bool // a record was settled in this assignment
	next      kgo.EpochOffset
	saved     kgo.EpochOffset // as committed
	highWater int64
	since     time.Time // blocked since
}

func (p *progress) settled(r *kgo.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = true
	p.next = kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset + 1}
	p.since = time.Time{}
}

func (p *progress) uncommitted() (next kgo.EpochOffset, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next, p.known && p.next != p.saved
}

func (p *progress) committed(next kgo.EpochOffset) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved = next
}

func (p *progress) sawHighWatermark(offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.highWater = offset
}

func (p *progress) blocked(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		p.since = now
	}
}

// PartitionState is what a consumer knows of a partition that has brought it records in the current assignment.
type PartitionState struct {
	Partition
	// Queued counts records that are fetched and not yet handed over.
	Queued int
	// Next is the offset of the first record that is not settled, or -1 if none of this assignment is settled yet.
	Next int64
	// Committed is what the group's offset was last set to by this consumer, or -1.
	Committed int64
	// HighWatermark is the partition's end as of the last fetch that brought records.
	HighWatermark int64
	// BlockedSince is when the record that the partition stands at first failed; zero if the partition moves.
	BlockedSince time.Time
}

// State returns the partitions that have brought records in the current assignment, by topic and number. It asks
// nobody and is cheap enough for a readiness check.
func (c *Consumer) State() []PartitionState {
	c.mu.Lock()
	defer c.mu.Unlock()
	states := make([]PartitionState, 0, len(c.workers))
	for _, w := range c.workers {
		states = append(states, w.state())
	}
	slices.SortFunc(states, func(a, b PartitionState) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.ID, b.ID))
	})
	return states
}

func (w *worker) state() PartitionState {
	p := &w.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	state := PartitionState{
		Partition: w.partition, Queued: w.queue.depth(),
		Next: -1, Committed: -1, HighWatermark: p.highWater, BlockedSince: p.since,
	}
	if p.known {
		state.Next = p.next.Offset
	}
	if p.saved != (kgo.EpochOffset{}) {
		state.Committed = p.saved.Offset
	}
	return state
}
