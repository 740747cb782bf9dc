package outbox

import (
	"sync/atomic"
	"time"
)

// failing is since when nothing gets through to the broker.
type failing struct{ since atomic.Int64 } // Unix nanoseconds; 0 while something does

// learn takes what became of a batch. One row that got through is enough: what is wrong with the others is theirs.
func (f *failing) learn(v verdict) {
	if len(v.acked)+len(v.parked) == 0 {
		f.since.CompareAndSwap(0, time.Now().UnixNano())
		return
	}
	f.over()
}

func (f *failing) over() { f.since.Store(0) }

// FailingSince is since when every try to publish has failed. It is zero if the last one got anything through, if there
// was nothing to publish since the start, and while another relay holds the lease. It asks nobody.
func (r *Relay) FailingSince() time.Time {
	if since := r.failing.since.Load(); since != 0 {
		return time.Unix(0, since)
	}
	return time.Time{}
}
