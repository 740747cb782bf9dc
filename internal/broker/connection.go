package broker

import (
	"context"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// MaxRequestBytes bounds one request of our clients. The embedded broker's TCP port refuses longer frames.
const MaxRequestBytes = 4 << 20

const (
	// The library's defaults wait up to 5 s before they try a broker again. A press on the board has 3 s in all, so the
	// first one after an outage would fail although the broker is back.
	retryPause    = 50 * time.Millisecond
	metadataPause = 100 * time.Millisecond

	dialTimeout = 3 * time.Second
	// A connection that swallows requests is given up after the request's own time-out plus this much.
	answerTimeout  = 5 * time.Second
	produceTimeout = 5 * time.Second
	// Bounds a record whose context has no deadline.
	deliveryTimeout = 10 * time.Second

	// A dead consumer's partitions move on after the first; the second must be well below a third of it.
	sessionTimeout    = 6 * time.Second
	heartbeatInterval = 2 * time.Second
)

// Connection says how to reach a broker. It is a value without state: any number of clients may be made from it, and it
// stays valid while the broker is away.
type Connection struct {
	// Seeds are the host:port pairs to try first; the broker's own metadata names the rest.
	Seeds []string
	// Dial opens a connection; nil is TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Options are what every client has in common.
func (c Connection) Options() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Seeds...),
		kgo.ClientID("kuhnya"),
		kgo.MetadataMinAge(metadataPause),
		kgo.RetryBackoffFn(func(int) time.Duration { return retryPause }),
		kgo.RequestTimeoutOverhead(answerTimeout),
		kgo.BrokerMaxWriteBytes(MaxRequestBytes),
		kgo.DisableClientMetrics(),
	}
	if c.Dial != nil {
		return append(opts, kgo.Dialer(c.Dial))
	}
	return append(opts, kgo.DialTimeout(dialTimeout))
}

// ProducerOptions are for a client that publishes: acknowledged by all in-sync replicas, in order and without
// duplicates by the client's own retries, partitioned by key as every Kafka client does it (murmur2), sent at once, and
// cancellable at any time. Cancelling gives up the protection from duplicates for that record: it may have been written.
func (c Connection) ProducerOptions() []kgo.Opt {
	return append(c.Options(),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.AllowIdempotentProduceCancellation(),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		kgo.ProducerLinger(0),
		kgo.ProduceRequestTimeout(produceTimeout),
		kgo.RecordDeliveryTimeout(deliveryTimeout),
	)
}

// ConsumerOptions are for a client in a consumer group; the caller adds group, topics and callbacks. Offsets move only
// when the caller commits them, and a group without a commit starts at the earliest record, as does one whose offset
// the log no longer has. Partitions are assigned eagerly: when a broker that forgot its members comes back, cooperative
// members would keep their old partitions beside the new owners.
func (c Connection) ConsumerOptions() []kgo.Opt {
	return append(c.Options(),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.Balancers(kgo.RangeBalancer()),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(sessionTimeout),
		kgo.HeartbeatInterval(heartbeatInterval),
	)
}
