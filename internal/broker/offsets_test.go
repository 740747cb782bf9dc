package broker_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/internal/broker"
	"kuhnya/internal/event"
	"kuhnya/outbox"
)

func TestAdmin(t *testing.T) {
	b := open(t)
	a := newAdmin(t, b.Connection())
	topic := topics.Orders()
	p := newPublisher(t, b.Connection())
	var rows []outbox.Row
	for range 10 {
		rows = append(rows, row(topic, "a", nil))
	}
	for _, err := range p.Publish(t.Context(), rows) {
		if err != nil {
			t.Fatal(err)
		}
	}
	partition := read(t, b.Connection(), topic, 1)[0].Partition
	state := func() (ends, committed map[int32]int64, lag int64) {
		t.Helper()
		ends, err := a.Ends(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if committed, err = a.Committed(t.Context(), event.GroupEstablishment, topic); err != nil {
			t.Fatal(err)
		}
		if lag, err = a.Lag(t.Context(), event.GroupEstablishment, topic, topics.Bonuses()); err != nil {
			t.Fatal(err)
		}
		return ends, committed, lag
	}

	t.Run("unknown_group_has_no_commits_and_lags_by_all", func(t *testing.T) {
		ends, committed, lag := state()
		if len(ends) != broker.DefaultPartitions || ends[partition] != 10 || len(committed) != 0 || lag != 10 {
			t.Errorf("ends %v committed %v lag %d", ends, committed, lag)
		}
	})

	t.Run("commits_are_seen", func(t *testing.T) {
		commit(t, a, event.GroupEstablishment, topic, partition, 7)
		_, committed, lag := state()
		if diff := cmp.Diff(map[int32]int64{partition: 7}, committed); diff != "" || lag != 3 {
			t.Errorf("lag %d, committed (-want +got):\n%s", lag, diff)
		}
	})

	t.Run("partition_whose_records_are_all_deleted_ends_at_0", func(t *testing.T) {
		var all kadm.Offsets
		all.AddOffset(topic, partition, 10, -1)
		if _, err := a.Kafka().DeleteRecords(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		ends, _, lag := state()
		if ends[partition] != 0 || lag != 0 {
			t.Errorf("ends %v lag %d", ends, lag)
		}
	})

	t.Run("unknown_topic_is_an_error", func(t *testing.T) {
		if ends, err := a.Ends(t.Context(), "nope"); err == nil {
			t.Errorf("ends %v", ends)
		}
	})

	t.Run("ping_fails_while_the_broker_is_away", func(t *testing.T) {
		if err := a.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if err := b.Pause(); err != nil {
			t.Fatal(err)
		}
		if err := a.Ping(t.Context()); err == nil {
			t.Error("answered by a broker that is away")
		}
		if err := b.Resume(); err != nil {
			t.Fatal(err)
		}
		if err := a.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func commit(t *testing.T, a *broker.Admin, group, topic string, partition int32, at int64) {
	t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, at, -1)
	if err := a.Kafka().CommitAllOffsets(t.Context(), group, offsets); err != nil {
		t.Fatal(err)
	}
}

func TestEnsureTopics(t *testing.T) {
	b := open(t)
	t.Run("again_it_changes_nothing", func(t *testing.T) {
		if err := broker.EnsureTopics(t.Context(), b.Connection(), 7, broker.TopicNames(topics)...); err != nil {
			t.Fatal(err)
		}
		ends, err := newAdmin(t, b.Connection()).Ends(t.Context(), topics.Orders())
		if err != nil || len(ends) != broker.DefaultPartitions {
			t.Errorf("%d partitions, %v", len(ends), err)
		}
	})

	t.Run("names_the_topic_that_it_can_not_make", func(t *testing.T) {
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.PolicyViolation})
		err := broker.EnsureTopics(t.Context(), b.Connection(), 1, "odd")
		if err == nil || !strings.Contains(err.Error(), "odd") {
			t.Errorf("got %v", err)
		}
	})

	t.Run("ends_with_its_context_when_the_broker_is_away", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := broker.EnsureTopics(ctx, b.Connection(), 1, broker.TopicNames(topics)...); err == nil {
			t.Error("ensured")
		}
	})
}

func TestTopics(t *testing.T) {
	want := []string{
		"kuhnya.orders", "kuhnya.establishment-statuses", "kuhnya.bonuses",
		"kuhnya.orders.establishment.dlq", "kuhnya.orders.bonus.dlq", "kuhnya.establishment-statuses.kitchen.dlq",
	}
	if diff := cmp.Diff(want, broker.TopicNames(topics)); diff != "" {
		t.Errorf("topics (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kuhnya.orders"}, topics.ReadBy(event.GroupEstablishment)); diff != "" {
		t.Errorf("establishment reads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"establishment", "bonus"}, topics.GroupsOf(topics.Orders())); diff != "" {
		t.Errorf("orders are read by (-want +got):\n%s", diff)
	}
}
