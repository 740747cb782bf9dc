package consume

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// pollSize bounds the records of one poll, over all partitions.
const pollSize = 1000

// warnInterval is how often the log is told of polls that fail.
const warnInterval = 30 * time.Second

// Consumer reads topics as a member of a group. Make one with [New] and run it once.
type Consumer struct {
	options     Options
	deadLetters *publisher
	started     atomic.Bool
	membership  membership
	running     sync.WaitGroup // workers
	warned      time.Time      // when the log was last told of a failed poll; it belongs to poll

	mu      sync.Mutex
	workers map[Partition]*worker
}

// New checks the options; nothing is dialled before [Consumer.Run].
func New(o Options) (*Consumer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.fill()
	c := &Consumer{options: o, deadLetters: newPublisher(o), workers: map[Partition]*worker{}}
	if err := kgo.ValidateOpts(c.clientOptions(context.Background())...); err != nil {
		return nil, fmt.Errorf("consume: client options: %w", err)
	}
	if err := kgo.ValidateOpts(publisherOptions(o)...); err != nil {
		return nil, fmt.Errorf("consume: dead-letter options: %w", err)
	}
	return c, nil
}

// Run consumes until ctx ends, then lets running handler calls finish within the grace, commits what is settled, leaves
// the group and returns nil when all of its goroutines have ended: within [Options.Grace] and [Options.CommitTimeout]
// together, even if no broker answers any more. Only a handler that outlives its context holds Run up. Brokers that are
// away are no error: Run waits for them. A second call is an error.
func (c *Consumer) Run(ctx context.Context) error {
	if c.started.Swap(true) {
		return errors.New("consume: a consumer runs once")
	}
	if err := c.deadLetters.open(); err != nil {
		return err
	}
	defer c.deadLetters.close()
	c.membership.lost()
	lifetime, end := linger(ctx, c.options.Grace+c.options.CommitTimeout)
	defer end()
	client, err := kgo.NewClient(c.clientOptions(lifetime)...)
	if err != nil {
		return fmt.Errorf("consume: open client: %w", err)
	}
	c.poll(ctx, client)
	c.shutDown(lifetime, client)
	return nil
}

// poll moves records from the client to the workers until ctx ends. It never handles a record and never waits for a
// worker: while a poll is being handed out, rebalances of the whole group wait for it.
func (c *Consumer) poll(ctx context.Context, client *kgo.Client) {
	idle := exponential(c.options.RetryMin, min(c.options.RetryMax, time.Second))
	for {
		fetches := client.PollRecords(ctx, pollSize)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return // rebalances stay blocked: nobody takes a partition away while shutDown settles it
		}
		c.handOut(ctx, client, fetches)
		client.AllowRebalance()
		if !c.pollFailed(fetches) || !fetches.Empty() {
			idle.Reset()
			continue
		}
		sleep(ctx, idle.NextBackOff()) // errors come without waiting: don't spin on them
	}
}

// pollFailed reports the errors of a poll as one. While a broker is away there are several such polls a second, so the
// log is told of one now and then.
func (c *Consumer) pollFailed(fetches kgo.Fetches) bool {
	failures := fetches.Errors()
	if len(failures) == 0 {
		return false
	}
	first := failures[0]
	c.options.Events.PollFailed(first.Err)
	if now := time.Now(); now.Sub(c.warned) >= warnInterval {
		c.warned = now
		c.options.Logger.Warn("poll failed", "group", c.options.Group, "topic", first.Topic, "partition", first.Partition,
			"failures", len(failures), "error", first.Err)
	}
	return true
}

// shutDown ends the workers while the partitions are still ours, commits, and gives the partitions back. A client that
// is joining its group leaves only after the answer, for which it would wait long after its broker fell silent: the end
// of its lifetime cuts that short.
func (c *Consumer) shutDown(lifetime context.Context, client *kgo.Client) {
	c.giveUp(lifetime, client, c.takeAll())
	client.AllowRebalance()
	if err := client.LeaveGroupContext(lifetime); err != nil {
		c.options.Logger.Warn("leave group", "group", c.options.Group, "error", err)
	}
	client.Close()
	client.AllowRebalance() // closing polls once more, and that may hold up a goroutine of the client for good
	c.running.Wait()
}

// linger returns a context that outlives parent by d. The caller must call the returned function.
func linger(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		sleep(ctx, d)
		cancel()
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// sleep waits for d and reports whether ctx outlived it.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
