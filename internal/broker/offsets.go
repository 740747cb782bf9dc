package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// adminTimeout bounds each question; callers may bound it further by their context.
const adminTimeout = 3 * time.Second

// Admin answers questions about offsets and keeps topics in order. It may be used by many at once.
type Admin struct {
	client *kgo.Client
	kafka  *kadm.Client
}

// NewAdmin makes an admin; it connects on first use.
func NewAdmin(conn Connection) (*Admin, error) {
	client, err := kgo.NewClient(append(conn.Options(), kgo.RetryTimeout(adminTimeout))...)
	if err != nil {
		return nil, fmt.Errorf("make admin: %w", err)
	}
	kafka := kadm.NewClient(client)
	kafka.SetTimeoutMillis(int32(adminTimeout.Milliseconds()))
	return &Admin{client: client, kafka: kafka}, nil
}

// Close ends the connection.
func (a *Admin) Close() { a.kafka.Close() }

// Kafka gives access to everything else that an administrator can ask; the client is the admin's own.
func (a *Admin) Kafka() *kadm.Client { return a.kafka }

// Ping returns nil if some broker answers.
func (a *Admin) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	if err := a.client.Ping(ctx); err != nil { // the kadm client would answer from its cache
		return fmt.Errorf("ping broker: %w", err)
	}
	return nil
}

// Ends returns, for each partition of a topic, the offset that a group has committed when it has read everything. It is
// 0 for a partition without records, whatever it held before.
func (a *Admin) Ends(ctx context.Context, topic string) (map[int32]int64, error) {
	starts, ends, err := a.Bounds(ctx, topic)
	if err != nil {
		return nil, err
	}
	for p, end := range ends {
		if starts[p] >= end {
			ends[p] = 0
		}
	}
	return ends, nil
}

// Committed returns the offsets that a group has committed on a topic. Partitions without a commit are absent, and so
// is everything of a group that the broker doesn't know.
func (a *Admin) Committed(ctx context.Context, group string, topic string) (map[int32]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	committed := make(map[int32]int64)
	all, err := a.kafka.FetchOffsets(ctx, group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return committed, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fetch offsets of group %s: %w", group, err)
	}
	for p, o := range all[topic] {
		if o.Err != nil {
			return nil, fmt.Errorf("fetch offset of group %s on %s/%d: %w", group, topic, p, o.Err)
		}
		if o.At >= 0 {
			committed[p] = o.At
		}
	}
	return committed, nil
}

// Lag is the number of records on the topics that a group has not committed, at most; offsets that carry no record
// (markers of transactions, compacted ones) count too.
func (a *Admin) Lag(ctx context.Context, group string, topics ...string) (int64, error) {
	var lag int64
	for _, topic := range topics {
		starts, ends, err := a.Bounds(ctx, topic)
		if err != nil {
			return 0, err
		}
		committed, err := a.Committed(ctx, group, topic)
		if err != nil {
			return 0, err
		}
		for p, end := range ends {
			lag += max(0, end-max(starts[p], committed[p]))
		}
	}
	return lag, nil
}

// Bounds returns the first offset that a topic's partitions still hold and the one that their next record gets.
func (a *Admin) Bounds(ctx context.Context, topic string) (starts, ends map[int32]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	if ends, err = offsetsOf(a.kafka.ListEndOffsets(ctx, topic)); err != nil {
		return nil, nil, fmt.Errorf("list end offsets of %s: %w", topic, err)
	}
	if starts, err = offsetsOf(a.kafka.ListStartOffsets(ctx, topic)); err != nil {
		return nil, nil, fmt.Errorf("list start offsets of %s: %w", topic, err)
	}
	return starts, ends, nil
}

func offsetsOf(listed kadm.ListedOffsets, err error) (map[int32]int64, error) {
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, err
	}
	offsets := make(map[int32]int64)
	listed.Each(func(o kadm.ListedOffset) { offsets[o.Partition] = o.Offset })
	return offsets, nil
}
