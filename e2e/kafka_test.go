package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	ordersTopic   = "kuhnya.orders"
	statusesTopic = "kuhnya.establishment-statuses"
	bonusesTopic  = "kuhnya.bonuses"
	deadStatuses  = statusesTopic + ".kitchen.dlq"
)

// bus is a client of a site's broker.
type bus struct {
	seed   string
	client *kgo.Client
	admin  *kadm.Client
}

func (s *site) bus(t testing.TB) bus {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.kafka()), kgo.RequiredAcks(kgo.AllISRAcks()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return bus{s.kafka(), client, kadm.NewClient(client)}
}

func withPatience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// callback is what an establishment reports.
type callback struct {
	OrderID         string `json:"order_id"`
	EstablishmentID string `json:"establishment_id"`
	Status          string `json:"status"`
	Reason          string `json:"reason,omitempty"`
}

// report produces a callback of the venue, under a key unless it is "", and nothing else that a producer may add.
func (b bus) report(t testing.TB, v *venue, key, id, status string) {
	t.Helper()
	b.produce(t, key, callback{OrderID: id, EstablishmentID: v.id, Status: status})
}

func (b bus) produce(t testing.TB, key string, c callback) {
	t.Helper()
	value, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	record := &kgo.Record{Topic: statusesTopic, Key: []byte(c.OrderID), Value: value}
	if key != "" {
		record.Headers = []kgo.RecordHeader{{Key: "idempotency-key", Value: []byte(key)}}
	}
	if err := b.client.ProduceSync(withPatience(t), record).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// settle waits until a group has committed all that a topic holds now: each record was applied or is a dead letter.
func (b bus) settle(t testing.TB, group, topic string) {
	t.Helper()
	ends := b.ends(t, topic)
	eventually(t, group+" has read "+topic, func() bool {
		committed, err := b.admin.FetchOffsets(withPatience(t), group)
		for partition, end := range ends {
			at, _ := committed.Lookup(topic, partition)
			if err != nil || at.At < end {
				return false
			}
		}
		return true
	})
}

// ends are where the partitions of a topic end, without those that never held anything.
func (b bus) ends(t testing.TB, topic string) map[int32]int64 {
	t.Helper()
	listed, err := b.admin.ListEndOffsets(withPatience(t), topic)
	if err = errors.Join(err, listed.Error()); err != nil {
		t.Fatal(err)
	}
	ends := map[int32]int64{}
	listed.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			ends[o.Partition] = o.Offset
		}
	})
	return ends
}

// settleStatuses waits until kitchen has dealt with all callbacks.
func (b bus) settleStatuses(t testing.TB) {
	t.Helper()
	b.settle(t, "kitchen", statusesTopic)
}

// deadLetters are kitchen's dead letters of an order so far: the codes of their errors, in their order.
func (b bus) deadLetters(t testing.TB, id string) []string {
	t.Helper()
	b.settleStatuses(t)
	codes := []string{}
	for _, r := range b.all(t, deadStatuses) {
		if string(r.Key) == id {
			codes = append(codes, header(r, "x-dlq-error-code"))
		}
	}
	return codes
}

func header(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}

// all reads a topic of which nothing was trimmed, from its beginning to where it ends now.
func (b bus) all(t testing.TB, topic string) (records []*kgo.Record) {
	t.Helper()
	ends, start := b.ends(t, topic), map[int32]kgo.Offset{}
	for partition := range ends {
		start[partition] = kgo.NewOffset().AtStart()
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(b.seed), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: start}))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx := withPatience(t)
	for len(ends) > 0 {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			records = append(records, r)
			if r.Offset+1 >= ends[r.Partition] {
				delete(ends, r.Partition)
			}
		})
	}
	return records
}
