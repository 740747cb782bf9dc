package consume

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A partition's fetches pause when this much waits for its worker, and go on at half of it.
const (
	queueRecords = 2048
	queueBytes   = 16 << 20
)

// queue holds a partition's records between the poll loop and the worker. Pushing never waits: a full queue pauses the
// fetches of its partition instead, and the client then drops what it had fetched ahead and fetches it again on resume.
// So at most one poll lies above the bounds.
type queue struct {
	pause, resume func()
	filled        chan struct{} // a token: something was pushed

	mu      sync.Mutex
	records []*kgo.Record
	bytes   int
	paused  bool
}

func newQueue(pause, resume func()) *queue {
	return &queue{pause: pause, resume: resume, filled: make(chan struct{}, 1)}
}

func (q *queue) push(records []*kgo.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.records = append(q.records, records...)
	for _, r := range records {
		q.bytes += size(r)
	}
	if !q.paused && (len(q.records) >= queueRecords || q.bytes >= queueBytes) {
		q.paused = true
		q.pause() // under the lock: else a pop in between could resume first, and the pause would last for ever
	}
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// pop takes up to limit records, or none.
func (q *queue) pop(limit int) []*kgo.Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(limit, len(q.records))
	batch := q.records[:n:n]
	q.records = q.records[n:]
	for _, r := range batch {
		q.bytes -= size(r)
	}
	if q.paused && len(q.records) <= queueRecords/2 && q.bytes <= queueBytes/2 {
		q.letFlow()
	}
	return batch
}

// close lets the partition flow again: a pause would outlive the assignment.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.records, q.bytes = nil, 0
	q.letFlow()
}

func (q *queue) letFlow() {
	if q.paused {
		q.paused = false
		q.resume()
	}
}

func (q *queue) depth() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.records)
}

func size(r *kgo.Record) int { return len(r.Key) + len(r.Value) }
