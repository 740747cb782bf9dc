package consume_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/consume/consumetest"
)

const (
	group       = "kitchen"
	topic       = "statuses"
	deadLetters = "statuses.kitchen.dlq"
)

var (
	errTransient = errors.New("database is away")
	errDomain    = errors.New("no such order")
)

func classify(err error) (consume.Class, string) {
	switch {
	case errors.Is(err, errTransient):
		return consume.Transient, "unavailable"
	case errors.Is(err, errDomain):
		return consume.Domain, "not_found"
	}
	return consume.Unclassified, ""
}

// rig is a broker in memory, a store, and whatever consumers a test starts. All of it runs on a synctest bubble's
// clock: back-off and session time-outs cost nothing, and a test that waits for ever fails after ten minutes of
// that clock.
type rig struct {
	*testing.T
	cluster *kfake.Cluster
	broker  []kgo.Opt
	store   *consumetest.Memory
	produce *kgo.Client
}

// promise runs a subtest in a bubble, with a broker whose topics have this many partitions.
func promise(t *testing.T, name string, partitions int32, test func(*rig)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(newRig(t, partitions)) })
	})
}

func newRig(t *testing.T, partitions int32) *rig {
	cluster, broker := consumetest.Broker(t, partitions, topic, deadLetters)
	return rigOn(t, cluster, broker)
}

func rigOn(t *testing.T, cluster *kfake.Cluster, broker []kgo.Opt) *rig {
	r := &rig{T: t, cluster: cluster, broker: broker, store: new(consumetest.Memory)}
	r.produce = r.client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(100*time.Millisecond))
	return r
}

func (r *rig) client(options ...kgo.Opt) *kgo.Client {
	r.Helper()
	client, err := kgo.NewClient(append(slices.Clone(r.broker), options...)...)
	if err != nil {
		r.Fatalf("client: %v", err)
	}
	r.Cleanup(client.Close)
	return client
}

func (r *rig) send(records ...*kgo.Record) {
	r.Helper()
	for _, record := range records {
		record.Topic = topic
		if err := r.produce.ProduceSync(r.Context(), record).FirstErr(); err != nil {
			r.Fatalf("produce: %v", err)
		}
	}
}

func values(partition int32, values ...string) []*kgo.Record {
	var records []*kgo.Record
	for _, v := range values {
		records = append(records, &kgo.Record{Partition: partition, Key: []byte("k-" + v), Value: []byte(v)})
	}
	return records
}

// offset is what the group has committed on the broker, or -1.
func (r *rig) offset(partition int32) int64 {
	info := r.cluster.GroupInfo(group)
	if info == nil {
		return -1
	}
	commit, ok := info.Commits[topic][partition]
	if !ok {
		return -1
	}
	return commit.Offset
}

func (r *rig) expectOffset(partition int32, want int64) {
	r.Helper()
	if got := r.offset(partition); got != want {
		r.Errorf("committed offset of partition %d = %d, want %d", partition, got, want)
	}
}

// published reads all records of the dead-letter topic.
func (r *rig) published() []*kgo.Record {
	r.Helper()
	var want int64
	for _, p := range r.cluster.PartitionInfos(deadLetters) {
		want += p.HighWatermark
	}
	client := r.client(kgo.ConsumeTopics(deadLetters), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	var records []*kgo.Record
	for int64(len(records)) < want {
		records = append(records, client.PollFetches(r.Context()).Records()...)
	}
	return records
}

// expectDead compares the offsets of the dead letters in the store, which must all be of partition 0.
func (r *rig) expectDead(offsets ...int64) []consume.DeadLetter {
	r.Helper()
	rows, _ := r.store.List(r.Context())
	var got []int64
	for _, row := range rows {
		got = append(got, row.Offset)
	}
	if diff := cmp.Diff(offsets, got); diff != "" {
		r.Fatalf("dead letters (-want +got):\n%s", diff)
	}
	return rows
}
