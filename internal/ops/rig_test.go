package ops_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/event"
	"kuhnya/internal/ops"
	"kuhnya/outbox"
)

var topics = event.Topics{Prefix: "test."}

// rig is a broker with one service's way around a dead letter: consumer, table, rules, outbox and relay.
type rig struct {
	*testing.T
	broker      *embedded.Broker
	sender      *broker.Sender
	store       messagesql.DeadLetters
	deadLetters *ops.DeadLetters
	buried      chan consume.DeadLetter
	settled     chan int64 // next offset, after each commit
}

// newRig starts a broker, and over db the relay of a service.
func newRig(t *testing.T, db *database.SQLite) *rig {
	t.Helper()
	b, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Topics: topics})
	must(t, err)
	t.Cleanup(func() { must(t, b.Close(context.Background())) })
	sender, err := broker.NewSender(b.Connection())
	must(t, err)
	t.Cleanup(sender.Close)
	publisher, err := broker.NewPublisher(b.Connection())
	must(t, err)
	t.Cleanup(publisher.Close)
	relay := outbox.NewRelay(outbox.RelayOptions{Store: messagesql.NewOutbox(db), Publisher: publisher})
	store := messagesql.NewDeadLetters(db)
	r := &rig{
		T: t, broker: b, sender: sender, store: store, deadLetters: ops.NewDeadLetters(store, relay.Wake),
		buried: make(chan consume.DeadLetter, 100), settled: make(chan int64, 100),
	}
	r.run(relay.Run)
	return r
}

// run runs f until the test ends.
func (r *rig) run(f func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	r.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			r.Error(err)
		}
	})
}

// consume applies a topic for a group until the test ends.
func (r *rig) consume(group, topic string, handler consume.Handler, store consume.DeadLetterStore, events consume.Events) {
	r.Helper()
	conn := r.broker.Connection()
	consumer, err := consume.New(consume.Options{
		Group: group, Topics: []string{topic}, ClientOptions: conn.ConsumerOptions(), DeadLetterOptions: conn.ProducerOptions(),
		Handler: handler, Classify: broker.Classify, DeadLetters: store, RetryMin: time.Millisecond, Events: events,
	})
	must(r.T, err)
	r.run(consumer.Run)
}

// serve applies a topic for the rig's own service.
func (r *rig) serve(group, topic string, handler consume.Handler) {
	r.Helper()
	r.consume(group, topic, handler, r.store, consume.Events{
		DeadLettered: func(d consume.DeadLetter) { r.buried <- d },
		Committed:    func(_ consume.Partition, next int64) { r.settled <- next },
	})
}

func (r *rig) send(topic, key, value string, headers ...outbox.Header) {
	r.Helper()
	r.sendMessage(outbox.Message{EventID: uuid.New(), Topic: topic, Key: key, Payload: []byte(value), Headers: headers})
}

func (r *rig) sendMessage(m outbox.Message) {
	r.Helper()
	must(r.T, r.sender.Send(r.Context(), m))
}

// nextDeadLetter waits for a record to be given up, and returns its row.
func (r *rig) nextDeadLetter() ops.DeadLetter {
	r.Helper()
	d := receive(r.T, r.buried)
	letters, err := r.store.DeadLetters(r.Context(), "", uuid.Nil, 1000)
	must(r.T, err)
	for _, letter := range letters {
		if letter.Topic == d.Topic && letter.Partition == d.Partition && letter.Offset == d.Offset {
			whole, _, err := r.store.DeadLetter(r.Context(), letter.ID)
			must(r.T, err)
			return whole
		}
	}
	r.Fatalf("no row of %s/%d/%d", d.Topic, d.Partition, d.Offset)
	return ops.DeadLetter{}
}

// mustSettle waits until everything below an offset is committed.
func (r *rig) mustSettle(next int64) {
	r.Helper()
	for receive(r.T, r.settled) < next {
	}
}

func (r *rig) mustRedrive(id uuid.UUID) {
	r.Helper()
	_, err := r.deadLetters.Redrive(r.Context(), id)
	must(r.T, err)
}

// receive gives up long before the test binary does.
func receive[V any](t *testing.T, from <-chan V) V {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came for a minute")
		panic("unreachable")
	}
}

// watcher is a handler that notes what it is given.
func watcher(seen chan<- string) consume.Handler {
	return func(_ context.Context, records []*kgo.Record) []error {
		for _, r := range records {
			seen <- string(r.Value)
		}
		return make([]error, len(records))
	}
}

func messages(t *testing.T, extra ...database.Line) *database.SQLite {
	return databasetest.SQLite(t, append(extra, messagesql.Migrations())...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
