package kitchen

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/trace"
)

const (
	// AcceptTimeout is the reason of orders that nobody accepted in time.
	AcceptTimeout = "accept_timeout"

	timeoutInterval = 500 * time.Millisecond
	timeoutBatch    = 1000
	// timeoutSettling is how long after a start, or after the broker came back, accepts that could not be sent
	// meanwhile get to arrive first. It exceeds the age at which establishments send unsent steps again.
	timeoutSettling = 10 * time.Second
	// slowAnswer is what counts as an outage too: a step may have failed meanwhile that would be sent now.
	slowAnswer = time.Second
)

// Offsets are positions in a log by partition. An absent partition has no position.
type Offsets map[int32]int64

// Callbacks is the log on which establishments report, as far as the accept time-out must know it.
type Callbacks interface {
	// Ends returns the position after the last record of every partition.
	Ends(ctx context.Context) (Offsets, error)
	// Committed returns what kitchen has committed, which is what it has applied.
	Committed(ctx context.Context) (Offsets, error)
}

// TimeoutSweeper rejects placed orders whose accept deadline is past by the database's clock, and only after everything
// that the callback log held at that moment has been applied: an accept that was sent in time is never overtaken.
// While the log can't be read the sweeper waits. Any number of instances may sweep the same database.
type TimeoutSweeper struct {
	service   *Service
	callbacks Callbacks
	log       *slog.Logger

	away    bool      // the log could not be read, or has not been read yet
	settled time.Time // not before then are ends read
	overdue []uuid.UUID
	ends    Offsets

	timedOut atomic.Int64
}

// NewTimeoutSweeper makes the sweeper of a service.
func NewTimeoutSweeper(s *Service, callbacks Callbacks, log *slog.Logger) *TimeoutSweeper {
	return &TimeoutSweeper{service: s, callbacks: callbacks, log: log}
}

// TimedOut is the number of orders that this sweeper has rejected. One that two instances reject at once counts in both.
func (w *TimeoutSweeper) TimedOut() int64 { return w.timedOut.Load() }

// Run sweeps until ctx ends.
func (w *TimeoutSweeper) Run(ctx context.Context) {
	w.away = true
	tick := time.NewTicker(timeoutInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.sweep(ctx)
		}
	}
}

// sweep goes one step: it finds overdue orders and notes where the log ends, or rejects those noted once kitchen has
// committed up to there.
func (w *TimeoutSweeper) sweep(ctx context.Context) {
	committed, ok := w.ask(ctx, w.callbacks.Committed)
	if !ok || time.Now().Before(w.settled) {
		return
	}
	if len(w.overdue) == 0 && !w.note(ctx) {
		return
	}
	if reached(committed, w.ends) {
		w.reject(ctx)
	}
}

// ask puts a question to the log. From the first answer after an outage on, accepts get their time to arrive.
func (w *TimeoutSweeper) ask(ctx context.Context, question func(context.Context) (Offsets, error)) (Offsets, bool) {
	asked := time.Now()
	offsets, err := question(ctx)
	if err != nil {
		if !w.away && ctx.Err() == nil {
			w.log.Warn("callback log unreadable, accept time-outs wait", "error", err)
		}
		w.away = true
		return nil, false
	}
	if w.away || time.Since(asked) > slowAnswer {
		w.away, w.settled = false, time.Now().Add(timeoutSettling)
		w.overdue, w.ends = nil, nil
	}
	return offsets, true
}

// note remembers the orders that are overdue now and, read after that, the ends of the log.
func (w *TimeoutSweeper) note(ctx context.Context) bool {
	overdue, err := w.service.store.Overdue(ctx, timeoutBatch)
	if err != nil {
		w.log.Warn("overdue orders unreadable", "error", err)
		return false
	}
	if len(overdue) == 0 {
		return false
	}
	ends, ok := w.ask(ctx, w.callbacks.Ends)
	if !ok || time.Now().Before(w.settled) {
		return false
	}
	w.overdue, w.ends = overdue, ends
	return true
}

// reached says whether everything below the ends is committed. A partition that never held a record needs no commit.
func reached(committed, ends Offsets) bool {
	for partition, end := range ends {
		if end > 0 && committed[partition] < end {
			return false
		}
	}
	return true
}

// reject sends the noted orders through the ordinary transition: one that was accepted meanwhile stays accepted.
func (w *TimeoutSweeper) reject(ctx context.Context) {
	changes := make([]Change, len(w.overdue))
	for i, id := range w.overdue {
		changes[i] = Change{
			OrderID: id, To: lifecycle.Rejected, Reason: AcceptTimeout, Party: lifecycle.System, Actor: "system:" + AcceptTimeout,
			Trace: trace.New(),
		}
	}
	for i, err := range w.service.ChangeAll(ctx, changes) {
		ctx := trace.WithParent(ctx, changes[i].Trace)
		switch {
		case err == nil:
			w.timedOut.Add(1)
			w.log.InfoContext(ctx, "order not accepted in time", "order_id", changes[i].OrderID)
		case fault.CodeOf(err) != fault.InvalidTransition && ctx.Err() == nil:
			w.log.WarnContext(ctx, "accept time-out not applied", "order_id", changes[i].OrderID, "error", err)
		}
	}
	w.overdue, w.ends = nil, nil
}
