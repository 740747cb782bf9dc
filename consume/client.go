package consume

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// clientOptions are, in the order in which later ones win: time-outs that the caller may replace, the caller's options,
// and what the guarantee rests on. lifetime is the client's, and of the last commits: it outlives Run's context.
func (c *Consumer) clientOptions(lifetime context.Context) []kgo.Opt {
	o := c.options
	options := append(recoverQuickly(),
		kgo.SessionTimeout(6*time.Second),
		kgo.HeartbeatInterval(2*time.Second),
		// A revoke callback waits for a handler call twice, then commits. Members learn of a rebalance by their next
		// heartbeat. More than that only makes the others wait for a member that has died while it joined.
		kgo.RebalanceTimeout(2*o.Grace+o.CommitTimeout+5*time.Second),
		// A resumed partition joins the next fetch, so this bounds how long resuming takes.
		kgo.FetchMaxWait(250*time.Millisecond),
		// Eager: after a broker's crash no member can go on with partitions that another was given.
		kgo.Balancers(kgo.RangeBalancer()),
	)
	options = append(options, o.ClientOptions...)
	return append(options,
		kgo.WithContext(lifetime),
		kgo.ConsumerGroup(o.Group),
		kgo.ConsumeTopics(o.Topics...),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { c.membership.won() }),
		kgo.OnPartitionsRevoked(func(_ context.Context, client *kgo.Client, lost map[string][]int32) {
			c.membership.lost()
			c.giveUp(lifetime, client, c.take(lost))
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
			c.membership.lost()
			c.abandon(c.take(lost))
		}),
	)
}

// publisherOptions are those of the client for dead letters.
func publisherOptions(o Options) []kgo.Opt {
	options := append(recoverQuickly(), kgo.ProducerLinger(0))
	options = append(options, o.DeadLetterOptions...)
	return append(options,
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// A produce call must end with its context; a repeated dead letter is harmless, a hanging worker is not.
		kgo.AllowIdempotentProduceCancellation(),
		kgo.ProducerBatchMaxBytes(o.MaxMessageBytes),
	)
}

// recoverQuickly replaces defaults that make a client fail for seconds after its broker has come back.
func recoverQuickly() []kgo.Opt {
	return []kgo.Opt{
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.DisableClientMetrics(),
	}
}
