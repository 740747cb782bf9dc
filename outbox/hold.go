package outbox

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// maxHeld bounds the memory spent on failing keys. More of them than this at a time are an outage, in which it no
	// longer matters who is tried first.
	maxHeld = 16384
	// forgetAfter is when the back-off of a key that never came again is dropped.
	forgetAfter = time.Minute
)

// holds keeps the rows of failing keys back. Whether a key may pass is decided once for a whole pass: a key let in
// halfway would be published from its middle.
type holds struct {
	keys  map[string]*hold
	since time.Time // start of the pass
	retry func() *backoff.ExponentialBackOff
}

type hold struct {
	until   time.Time
	backoff *backoff.ExponentialBackOff
}

func newHolds(retry func() *backoff.ExponentialBackOff) *holds {
	return &holds{keys: make(map[string]*hold), retry: retry}
}

// begin starts a pass.
func (h *holds) begin(now time.Time) {
	h.since = now
	for key, k := range h.keys {
		if now.Sub(k.until) > forgetAfter {
			delete(h.keys, key)
		}
	}
}

// admit returns the rows that may be published in this pass.
func (h *holds) admit(rows []Row) []Row {
	admitted := make([]Row, 0, len(rows))
	for _, row := range rows {
		if !h.held(row.Key) {
			admitted = append(admitted, row)
		}
	}
	return admitted
}

// held compares with the start of the pass, not with the present: a hold that runs out during a pass lasts to its end.
func (h *holds) held(key string) bool {
	k, ok := h.keys[key]
	return ok && k.until.After(h.since)
}

// fail holds a row's key back for longer than the last time, once in a pass. It reports whether it did.
func (h *holds) fail(row Row) bool {
	if h.held(row.Key) {
		return false
	}
	k, ok := h.keys[row.Key]
	if !ok {
		k = &hold{backoff: h.retry()}
		h.keys[row.Key] = k
	}
	k.until = time.Now().Add(k.backoff.NextBackOff())
	return true
}

// clear forgets what happened to the keys of rows that went through.
func (h *holds) clear(rows []Row) {
	for _, row := range rows {
		if !h.held(row.Key) {
			delete(h.keys, row.Key)
		}
	}
}

// due is the time until the first key held in this pass may be tried again, at most d.
func (h *holds) due(d time.Duration) time.Duration {
	now := time.Now()
	for _, k := range h.keys {
		if k.until.After(h.since) {
			d = min(d, k.until.Sub(now))
		}
	}
	return d
}

// full says that no further failing key can be remembered.
func (h *holds) full() bool { return len(h.keys) >= maxHeld }
