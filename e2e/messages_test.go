package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestMessages(t *testing.T) {
	keep(t,
		promise{"a value that is no JSON between two good records is one dead letter and stops nothing", poisonBetween},
		promise{"a record without a value is a dead letter", poisonNil},
		promise{"a header without a value does no harm", nilHeader},
		promise{"a record of an unknown type is skipped", unknownType},
		promise{"an order record of an unknown version is a dead letter", unknownVersion},
		promise{"an order record without a type is a dead letter", withoutType},
		promise{"a record with nothing but key and JSON is applied", bareRecord},
		promise{"members that nobody knows are ignored", unknownMembers},
		promise{"a poison record of exactly the broker's limit stops nothing, its dead letter has no value and the table has all of it", poisonAtTheLimit},
		promise{"poison as the last record is one dead letter, however often the process restarts", poisonLast},
		promise{"a process killed right behind poison keeps one dead letter of it", poisonAndKill},
	)
}

// poison is a record that no service can apply, on the partition of an order.
func poison(topic, id string, headers ...kgo.RecordHeader) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: []byte(id), Value: []byte("{"), Headers: headers}
}

func withHeader(name, value string) kgo.RecordHeader {
	return kgo.RecordHeader{Key: name, Value: []byte(value)}
}

// callbackRecord is a callback with nothing but key and JSON.
func (s *stage) callbackRecord(status string, headers ...kgo.RecordHeader) *kgo.Record {
	body := callback{OrderID: s.id, EstablishmentID: s.venue.id, Status: status}
	return &kgo.Record{Topic: statusesTopic, Key: []byte(s.id), Value: encode(body), Headers: headers}
}

func poisonBetween(t *testing.T) {
	s := newStage(t)
	s.say(t, "accepted")
	sent := s.bus.send(t, poison(statusesTopic, s.id, withHeader("ce_id", newKey()), withHeader("idempotency-key", "K"),
		kgo.RecordHeader{Key: "empty"}, withHeader("twice", "1"), withHeader("twice", "2")))
	s.say(t, "cooking")
	s.bus.wantBuried(t, kitchenReader, "invalid_request", sent)
	s.wantSaved(t, kitchenReader, "invalid_request", sent)
	s.wantHistory(t, s.id, "placed accepted cooking")
	s.awaitTicketStatus(t, s.id, "cooking")
}

func poisonNil(t *testing.T) {
	s := newStage(t)
	status := s.bus.send(t, &kgo.Record{Topic: statusesTopic, Key: []byte(s.id)})
	placed := s.bus.send(t, &kgo.Record{
		Topic: ordersTopic, Key: []byte(s.id), Headers: []kgo.RecordHeader{withHeader("ce_type", "order.placed.v1")},
	})
	s.say(t, "accepted")
	s.bus.wantBuried(t, kitchenReader, "invalid_request", status)
	s.bus.wantBuried(t, boardReader, "invalid_request", placed)
	s.awaitTicketStatus(t, s.id, "accepted")
}

func nilHeader(t *testing.T) {
	s := newStage(t)
	s.bus.send(t, s.callbackRecord("accepted", kgo.RecordHeader{Key: "traceparent"}, kgo.RecordHeader{Key: ""}))
	s.bus.send(t, &kgo.Record{Topic: ordersTopic, Key: []byte(s.id), Value: []byte("{}"), Headers: []kgo.RecordHeader{{Key: "ce_type"}}})
	s.say(t, "cooking")
	s.wantDeadLetters(t, s.id)
	s.wantHistory(t, s.id, "placed accepted cooking")
	s.awaitTicketStatus(t, s.id, "cooking")
}

func unknownType(t *testing.T) {
	s := newStage(t)
	s.bus.send(t, s.callbackRecord("accepted", withHeader("ce_type", "weather.changed.v1")))
	s.bus.send(t, poison(ordersTopic, s.id, withHeader("ce_type", "weather.changed.v1")))
	s.wantDeadLetters(t, s.id)
	s.wantHistory(t, s.id, "placed")
	s.say(t, "accepted")
	s.awaitTicketStatus(t, s.id, "accepted")
	if letters := s.bus.buried(t, boardReader, s.id); len(letters) != 0 {
		t.Errorf("%d dead letters", len(letters))
	}
}

func unknownVersion(t *testing.T) {
	s := newStage(t)
	sent := s.bus.send(t, poison(ordersTopic, s.id, withHeader("ce_type", "order.placed.v99")))
	s.wantBuriedOrder(t, sent)
}

func withoutType(t *testing.T) {
	s := newStage(t)
	body := fmt.Sprintf(`{"order_id":%q,"establishment_id":%q,"seq":2,"from":"placed","to":"cancelled"}`, s.id, s.venue.id)
	sent := s.bus.send(t, &kgo.Record{Topic: ordersTopic, Key: []byte(s.id), Value: []byte(body)})
	s.wantBuriedOrder(t, sent)
}

// wantBuriedOrder wants a record of orders to be a dead letter, and later ones of its partition to be applied.
func (s *stage) wantBuriedOrder(t *testing.T, sent *kgo.Record) {
	t.Helper()
	s.bus.wantBuried(t, boardReader, "invalid_request", sent)
	s.wantSaved(t, boardReader, "invalid_request", sent)
	if got := s.awaitTicket(t, s.id).Status; got != "placed" {
		t.Errorf("ticket is %s, want placed", got)
	}
	s.alice.cancel(t, s.id).want(t, 200)
	s.awaitTicketStatus(t, s.id, "cancelled")
}

func bareRecord(t *testing.T) {
	s := newStage(t)
	s.bus.send(t, s.callbackRecord("accepted"))
	s.awaitTicketStatus(t, s.id, "accepted")
	s.wantDeadLetters(t, s.id)
	if key := s.alice.events(t, s.id)[1].IdempotencyKey; key == nil || *key != s.id+":accepted" {
		t.Errorf("key of the event is %v", key)
	}
}

func unknownMembers(t *testing.T) {
	s := newStage(t)
	body, err := json.Marshal(map[string]any{
		"order_id": s.id, "establishment_id": s.venue.id, "status": "accepted", "chef": map[string]any{"hats": 2}, "eta": nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.bus.send(t, &kgo.Record{Topic: statusesTopic, Key: []byte(s.id), Value: body})
	s.wantDeadLetters(t, s.id)
	s.wantHistory(t, s.id, "placed accepted")
}

// messageLimit is the size of the largest batch that a topic takes.
func (b bus) messageLimit(t testing.TB, topic string) (limit int) {
	t.Helper()
	described, err := b.admin.DescribeTopicConfigs(withPatience(t), topic)
	if err != nil {
		t.Fatal(err)
	}
	config, err := described.On(topic, nil)
	if err = errors.Join(err, config.Err); err != nil {
		t.Fatal(err)
	}
	for _, c := range config.Configs {
		if c.Key == "max.message.bytes" {
			if _, err := fmt.Sscan(c.MaybeValue(), &limit); err != nil {
				t.Fatal(err)
			}
		}
	}
	return limit
}

// sendLargest produces the largest record with a key that the topic takes: one byte more would be refused.
func (b bus) sendLargest(t testing.TB, topic, key string) *kgo.Record {
	t.Helper()
	limit := b.messageLimit(t, topic)
	client, err := kgo.NewClient(kgo.SeedBrokers(b.seed), kgo.ProducerBatchMaxBytes(int32(limit)),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	filler := make([]byte, limit)
	_, _ = rand.NewChaCha8([32]byte{}).Read(filler) // else a dead letter may be small enough again by compression
	for n := limit; ; n-- {
		r := &kgo.Record{Topic: topic, Key: []byte(key), Value: filler[:n]}
		switch err := client.ProduceSync(withPatience(t), r).FirstErr(); {
		case err == nil:
			return r
		case !errors.Is(err, kerr.MessageTooLarge):
			t.Fatal(err)
		}
	}
}

func poisonAtTheLimit(t *testing.T) {
	s := newStage(t)
	sent := s.bus.sendLargest(t, statusesTopic, s.id)
	s.say(t, "accepted")
	letters := s.bus.buried(t, kitchenReader, s.id)
	if len(letters) != 1 {
		t.Fatalf("%d dead letters, want 1", len(letters))
	}
	wantWhy(t, kitchenReader, "invalid_request", sent, letters[0])
	if omitted := header(letters[0], "x-dlq-value-omitted"); letters[0].Value != nil || omitted != fmt.Sprint(len(sent.Value)) {
		t.Errorf("dead letter has %d bytes and says %q are left out, want 0 and %d", len(letters[0].Value), omitted, len(sent.Value))
	}
	s.wantSaved(t, kitchenReader, "invalid_request", sent)
	s.wantHistory(t, s.id, "placed accepted")
}

func poisonLast(t *testing.T) {
	s := soloSite(t, "--kafka-addr", "127.0.0.1:0")
	id := uuid.NewString()
	sent := s.bus(t).send(t, poison(statusesTopic, id))
	s.bus(t).wantBuried(t, kitchenReader, "invalid_request", sent)
	s.kitchen.stop(t)
	s.kitchen.restart(t)
	s.bus(t).wantBuried(t, kitchenReader, "invalid_request", sent)
	s.kitchen.kill(t)
	s.kitchen.restart(t)
	s.bus(t).wantBuried(t, kitchenReader, "invalid_request", sent)
	s.wantSaved(t, kitchenReader, "invalid_request", sent)
}

// poisonAndKill may find a poison record twice among the published dead letters, as a crash between letter and commit
// repeats it, but always under the same offset and as one row.
func poisonAndKill(t *testing.T) {
	s := soloSite(t, "--kafka-addr", "127.0.0.1:0")
	id := uuid.NewString()
	var sent []*kgo.Record
	for range 4 {
		sent = append(sent, s.bus(t).send(t, poison(statusesTopic, id)))
		s.kitchen.kill(t)
		s.kitchen.restart(t)
	}
	offsets := map[string]bool{}
	for _, letter := range s.bus(t).buried(t, kitchenReader, id) {
		offsets[header(letter, "x-dlq-original-offset")] = true
	}
	if len(offsets) != len(sent) {
		t.Errorf("dead letters of %d records, want %d", len(offsets), len(sent))
	}
	s.wantSaved(t, kitchenReader, "invalid_request", sent...)
}
