package establishment

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// DefaultRepublishAfter is the age from which the sweep sends an unsent step. It exceeds what a press may spend on
// sending, and kitchen's accept time-out waits longer than it.
const DefaultRepublishAfter = 5 * time.Second

const (
	sweepInterval = time.Second
	sweepBatch    = 1000
	sweepSenders  = 8 // so that marks share commits, and one stuck partition does not hold up the others
)

// SweepOptions tune a [Sweeper].
type SweepOptions struct {
	Interval       time.Duration // between sweeps; default 1 s
	RepublishAfter time.Duration // age of a ticket's oldest unsent step, by the database's clock
}

// Sweeper sends the steps that nobody presses again: those whose press failed to send them, or whose process died. Any
// number of instances may sweep the same database; each step then arrives more than once and counts once.
type Sweeper struct {
	service *Service
	options SweepOptions
	sweeps  int
	failed  map[uuid.UUID]int // the last sweep that failed to send an order
	outage  bool              // told to the log already
	sent    atomic.Int64      // steps
}

// NewSweeper makes the sweeper of a service.
func NewSweeper(s *Service, o SweepOptions) *Sweeper {
	if o.Interval <= 0 {
		o.Interval = sweepInterval
	}
	return &Sweeper{service: s, options: o, failed: map[uuid.UUID]int{}}
}

// Sent is the number of steps that this sweeper has sent.
func (w *Sweeper) Sent() int64 { return w.sent.Load() }

// Run sweeps at once and then at each interval until ctx ends. It returns when all that it sends has ended.
func (w *Sweeper) Run(ctx context.Context) {
	tick := time.NewTicker(w.options.Interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		w.Sweep(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// Sweep sends what is due once. When the broker fails it stops early: what is left is due in the next sweep as well.
func (w *Sweeper) Sweep(ctx context.Context) {
	due, err := w.service.store.Unsent(ctx, w.options.RepublishAfter, sweepBatch)
	if err == nil {
		err = w.sendAll(ctx, w.byLastFailure(due))
	}
	w.report(ctx, err)
}

// byLastFailure puts the orders that failed most recently at the end. Sweeps stop at failures, so without this a few
// orders that can't be sent would stand in the way of all others, sweep after sweep.
func (w *Sweeper) byLastFailure(due []uuid.UUID) []uuid.UUID {
	if len(due) == 0 {
		clear(w.failed)
	}
	slices.SortStableFunc(due, func(a, b uuid.UUID) int { return cmp.Compare(w.failed[a], w.failed[b]) })
	return due
}

// sendAll has several senders work the orders off and returns a failure, if there was one. A sender ends at its first, so
// a broker that is away is tried a few times and no more.
func (w *Sweeper) sendAll(ctx context.Context, due []uuid.UUID) (failure error) {
	w.sweeps++
	queue := make(chan uuid.UUID, len(due))
	for _, id := range due {
		queue <- id
	}
	close(queue)
	failures := make(chan unsendable, sweepSenders)
	var senders sync.WaitGroup
	for range min(sweepSenders, len(due)) {
		senders.Go(func() {
			for id := range queue {
				sent, err := w.service.publish(ctx, id, nil)
				w.service.logSwept(ctx, sent)
				w.sent.Add(int64(len(sent)))
				if err != nil {
					failures <- unsendable{id, err}
					return
				}
			}
		})
	}
	senders.Wait()
	close(failures)
	for f := range failures {
		w.failed[f.id], failure = w.sweeps, f.err
	}
	return failure
}

type unsendable struct {
	id  uuid.UUID
	err error
}

// report says once that an outage began and once that it is over.
func (w *Sweeper) report(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	before := w.outage
	w.outage = err != nil
	switch {
	case w.outage && !before:
		w.service.log.Warn("steps can't be sent, trying again", "error", err)
	case before && !w.outage:
		w.service.log.Info("steps can be sent again")
	}
}
