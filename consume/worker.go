package consume

import (
	"context"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/twmb/franz-go/pkg/kgo"
)

// worker settles the records of one partition, in order, for as long as one assignment lasts.
type worker struct {
	consumer  *Consumer
	client    *kgo.Client
	partition Partition
	log       *slog.Logger

	queue    *queue
	progress progress
	trial    trial
	recommit backoff.BackOff  // between failed commits
	due      <-chan time.Time // when the next of them is, if one failed

	// stop ends the taking of records, and every wait; work ends the running call too.
	stop, work context.Context
	halt, kill context.CancelFunc
	done       chan struct{}
}

func newWorker(ctx context.Context, c *Consumer, client *kgo.Client, p Partition) *worker {
	w := &worker{consumer: c, client: client, partition: p, done: make(chan struct{})}
	w.log = c.options.Logger.With("group", c.options.Group, "topic", p.Topic, "partition", p.ID)
	w.work, w.kill = context.WithCancel(ctx)
	w.stop, w.halt = context.WithCancel(w.work)
	w.recommit = w.backoff()
	w.trial.offset = -1
	ids := map[string][]int32{p.Topic: {p.ID}}
	w.queue = newQueue(
		func() { client.PauseFetchPartitions(ids) },
		func() { client.ResumeFetchPartitions(ids) },
	)
	return w
}

func (w *worker) run() {
	defer close(w.done)
	defer w.kill()
	defer w.queue.close()
	for {
		batch := w.next()
		if len(batch) == 0 {
			return
		}
		w.settle(batch)
		w.commit()
	}
}

// next waits for records and returns none when the worker is to stop. While it waits it repeats a commit that failed.
func (w *worker) next() []*kgo.Record {
	for w.stop.Err() == nil {
		if batch := w.queue.pop(w.consumer.options.BatchSize); len(batch) > 0 {
			return batch
		}
		select {
		case <-w.stop.Done():
		case <-w.queue.filled:
		case <-w.due:
			w.commit()
		}
	}
	return nil
}

// hold waits before a failed step is tried again, and reports whether to try it. What was settled before the failure is
// committed first: the wait may be long.
func (w *worker) hold(retry backoff.BackOff) bool {
	w.progress.blocked(time.Now())
	w.commit()
	return sleep(w.stop, retry.NextBackOff())
}

func (w *worker) retried(step Step, r *kgo.Record, err error) {
	w.logRecord(slog.LevelWarn, "trying again", r, slog.String("step", string(step)), slog.Any("error", err))
	w.consumer.options.Events.Retried(w.partition, step, err)
}

// logRecord writes a line about a record. Nothing is made of it where nobody reads such lines: there is one for each
// record.
func (w *worker) logRecord(level slog.Level, message string, r *kgo.Record, attrs ...slog.Attr) {
	ctx := context.Background()
	if !w.log.Enabled(ctx, level) {
		return
	}
	attrs = append(attrs, slog.Int64("offset", r.Offset))
	w.log.LogAttrs(ctx, level, message, append(attrs, w.consumer.options.Describe(r)...)...)
}

func (w *worker) backoff() backoff.BackOff {
	return exponential(w.consumer.options.RetryMin, w.consumer.options.RetryMax)
}

// exponential is back-off with full jitter: waits are drawn evenly from 0 to least, 2·least, 4·least … most, so that
// partitions that failed together don't come back together.
func exponential(least, most time.Duration) backoff.BackOff {
	b := &backoff.ExponentialBackOff{
		InitialInterval: least / 2, RandomizationFactor: 1, Multiplier: 2, MaxInterval: most / 2,
	}
	b.Reset()
	return b
}
