package embedded_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
)

// room is how much of it a broker finds on its disk.
type room struct{ bytes atomic.Int64 }

func (r *room) on(o *embedded.Options) {
	o.FreeSpace = func(string) (int64, error) { return r.bytes.Load(), nil }
}

func newRoom(bytes int64) *room {
	r := new(room)
	r.bytes.Store(bytes)
	return r
}

// once is a client that takes the first answer.
func (r *run) once() *kgo.Client {
	r.t.Helper()
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.OffsetCommit), 9) // later ones name topics by id
	client, err := kgo.NewClient(append(r.Connection().ProducerOptions(), kgo.RecordRetries(0), kgo.RequestRetries(0), kgo.MaxVersions(versions))...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(client.Close)
	return client
}

func (r *run) commitOnce(at int64) error {
	r.t.Helper()
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset = at
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.Partitions = topics.Orders(), []kmsg.OffsetCommitRequestTopicPartition{partition}
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.Topics = reporting, []kmsg.OffsetCommitRequestTopic{topic}
	answer, err := commit.RequestWith(r.t.Context(), r.once())
	if err != nil {
		r.t.Fatal(err)
	}
	return kerr.ErrorForCode(answer.Topics[0].Partitions[0].ErrorCode)
}

func (r *run) produceOnce() error {
	return r.once().ProduceSync(r.t.Context(), &kgo.Record{Topic: topics.Orders(), Value: []byte("x")}).FirstErr()
}

func TestAlmostFullDisk(t *testing.T) {
	t.Run("takes_neither_records_nor_commits_until_there_is_room", func(t *testing.T) {
		space := newRoom(embedded.DefaultReserve)
		r := open(t, t.TempDir(), space.on)
		produce(t, r.Connection(), topics.Orders(), 3)
		r.commit(reporting, topics.Orders(), 1)

		space.bytes.Store(embedded.DefaultReserve - 1)
		if err := r.produceOnce(); !errors.Is(err, kerr.KafkaStorageError) {
			t.Errorf("produced: %v", err)
		}
		if err := r.commitOnce(2); !errors.Is(err, kerr.CoordinatorNotAvailable) {
			t.Errorf("committed: %v", err)
		}
		if n := r.Refused(); n != 2 || !r.AlmostFull() {
			t.Errorf("refused %d requests, almost full: %v", n, r.AlmostFull())
		}
		r.wantBounds(topics.Orders(), 0, 3)
		r.wantCommitted(reporting, topics.Orders(), 1)

		space.bytes.Store(embedded.DefaultReserve)
		if err := errors.Join(r.produceOnce(), r.commitOnce(2)); err != nil || r.AlmostFull() {
			t.Errorf("with room again: %v, almost full: %v", err, r.AlmostFull())
		}
		r.wantBounds(topics.Orders(), 0, 4)
		r.wantCommitted(reporting, topics.Orders(), 2)
	})

	t.Run("lets_clients_wait_for_room", func(t *testing.T) {
		space := newRoom(0)
		dir := t.TempDir()
		open(t, dir).stop()
		r := open(t, dir, space.on)
		client, err := kgo.NewClient(r.Connection().ProducerOptions()...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		answer := make(chan error, 1)
		client.Produce(t.Context(), &kgo.Record{Topic: topics.Orders(), Value: []byte("x")}, func(_ *kgo.Record, err error) { answer <- err })
		for r.Refused() == 0 {
			select {
			case err := <-answer:
				t.Fatalf("answered without room: %v", err)
			default:
			}
		}
		space.bytes.Store(1 << 30)
		if err := <-answer; err != nil {
			t.Error(err)
		}
	})

	t.Run("is_guarded_after_a_pause_too", func(t *testing.T) {
		space := newRoom(1 << 30)
		r := open(t, t.TempDir(), space.on)
		if err := errors.Join(r.Pause(), r.Resume()); err != nil {
			t.Fatal(err)
		}
		space.bytes.Store(0)
		if err := r.produceOnce(); !errors.Is(err, kerr.KafkaStorageError) {
			t.Errorf("produced: %v", err)
		}
	})

	t.Run("gets_no_new_topics_and_does_not_keep_a_broker_from_starting", func(t *testing.T) {
		dir := t.TempDir()
		open(t, dir).stop()
		r := open(t, dir, newRoom(0).on) // its topics are there already
		if answers, err := r.Kafka().CreateTopics(t.Context(), 1, 1, nil, "new", "newer"); err != nil || !errors.Is(answers.Error(), kerr.KafkaStorageError) {
			t.Errorf("created: %v, %v", answers, err)
		}
		if n := r.Refused(); n != 1 {
			t.Errorf("one request for two topics counts %d times", n)
		}
		if answers, err := r.Kafka().UpdatePartitions(t.Context(), 9, topics.Orders()); err != nil || !errors.Is(answers.Error(), kerr.KafkaStorageError) {
			t.Errorf("grown: %v, %v", answers, err)
		}
	})

	t.Run("can_not_be_begun_on", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "broker")
		o := embedded.Options{Dir: dir, Topics: topics}
		newRoom(0).on(&o)
		if _, err := embedded.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "disk almost full") || !strings.Contains(err.Error(), dir) {
			t.Errorf("error %v", err)
		}
	})

	t.Run("is_not_what_nobody_can_tell", func(t *testing.T) {
		r := open(t, t.TempDir(), func(o *embedded.Options) {
			o.FreeSpace = func(string) (int64, error) { return 0, errors.ErrUnsupported }
		})
		produce(t, r.Connection(), topics.Orders(), 1)
	})
}

func TestPartitions_are_limited(t *testing.T) {
	r := open(t, t.TempDir(), func(o *embedded.Options) { o.Partitions = 4 })
	held := int64(4 * len(broker.TopicNames(topics)))
	create := func(name string, partitions int32) error {
		_, err := r.Kafka().CreateTopic(t.Context(), partitions, 1, nil, name)
		return err
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, kerr.PolicyViolation) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("without end", create("flood", 1<<30))
	refused("one too many", create("flood", int32(512-held)+1))
	var names []string
	for i := range 130 { // of which each gets 4
		names = append(names, fmt.Sprint("many", i))
	}
	answers, err := r.Kafka().CreateTopics(t.Context(), -1, 1, nil, names...)
	if err != nil || len(answers) != len(names) {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	for _, answer := range answers {
		refused(answer.Topic, answer.Err)
	}
	refused("by assignment", assigned(t, r, 513))

	for i := range 4 { // request by request up to the limit
		if err := create(fmt.Sprint("some", i), 100); err != nil {
			t.Errorf("%d partitions more: %v", 100*(i+1), err)
		}
	}
	refused("the last straw", create("straw", 100))
	grown, err := r.Kafka().UpdatePartitions(t.Context(), 1<<30, "some0")
	if err != nil {
		t.Fatal(err)
	}
	refused("growing", grown["some0"].Err)
	if err := create("some0", 1<<30); !errors.Is(err, kerr.TopicAlreadyExists) {
		t.Errorf("one that is there: %v", err)
	}
	if err := create("last", int32(512-held-400)); err != nil {
		t.Errorf("what is left: %v", err)
	}
	produce(t, r.Connection(), topics.Orders(), 1)
	r.stop()
}

// assigned asks for a topic by naming a broker for each partition instead of their number.
func assigned(t *testing.T, r *run, partitions int32) error {
	t.Helper()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "assigned", -1, -1
	for p := range partitions {
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: p, Replicas: []int32{0}})
	}
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Topics = []kmsg.CreateTopicsRequestTopic{topic}
	answer, err := create.RequestWith(t.Context(), r.once())
	if err != nil {
		t.Fatal(err)
	}
	return kerr.ErrorForCode(answer.Topics[0].ErrorCode)
}
