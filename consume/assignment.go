package consume

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The client never runs a rebalance callback between a poll and the AllowRebalance that follows. So workers are made
// (handOut) and taken away (take) in turn, each worker lives for one assignment of its partition, and no record of one
// assignment can reach a worker of another.

// handOut queues what was polled. A partition's worker starts with the first records of the assignment.
func (c *Consumer) handOut(ctx context.Context, client *kgo.Client, fetches kgo.Fetches) {
	fetches.EachPartition(func(f kgo.FetchTopicPartition) {
		if len(f.Records) == 0 {
			return
		}
		w := c.workerOf(ctx, client, Partition{Topic: f.Topic, ID: f.Partition})
		w.progress.sawHighWatermark(f.HighWatermark)
		w.queue.push(f.Records)
	})
}

func (c *Consumer) workerOf(ctx context.Context, client *kgo.Client, p Partition) *worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.workers[p]
	if !ok {
		w = newWorker(context.WithoutCancel(ctx), c, client, p)
		c.workers[p] = w
		c.running.Go(w.run)
	}
	return w
}

// take removes the workers of partitions that are no longer ours; the caller has to end them.
func (c *Consumer) take(lost map[string][]int32) []*worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	var taken []*worker
	for topic, ids := range lost {
		for _, id := range ids {
			p := Partition{Topic: topic, ID: id}
			if w, ok := c.workers[p]; ok {
				taken = append(taken, w)
				delete(c.workers, p)
			}
		}
	}
	return taken
}

func (c *Consumer) takeAll() []*worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := slices.Collect(maps.Values(c.workers))
	clear(c.workers)
	return taken
}

// giveUp ends workers in good order: the running handler calls finish, what they settled is committed.
func (c *Consumer) giveUp(ctx context.Context, client *kgo.Client, workers []*worker) {
	for _, w := range workers {
		w.halt()
	}
	if !ended(workers, c.options.Grace) {
		c.abandon(workers)
	}
	c.commitLast(ctx, client, workers)
}

// abandon ends workers whose handler calls have lost their right to go on, and commits nothing. A call that ignores its
// context is not waited for: with its worker halted it can settle and commit nothing any more.
func (c *Consumer) abandon(workers []*worker) {
	for _, w := range workers {
		w.kill()
	}
	if !ended(workers, c.options.Grace) {
		c.options.Logger.Error("handler does not return after its context ended", "group", c.options.Group)
	}
}

// ended waits up to d for all workers to end.
func ended(workers []*worker, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for _, w := range workers {
		select {
		case <-w.done:
		case <-timer.C:
			return false
		}
	}
	return true
}
