package broker_test

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/event"
	"kuhnya/outbox"
)

var topics = event.Topics{Prefix: event.DefaultPrefix}

func open(t *testing.T) *embedded.Broker {
	t.Helper()
	b, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Topics: topics})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func newAdmin(t *testing.T, conn broker.Connection) *broker.Admin {
	t.Helper()
	a, err := broker.NewAdmin(conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func newPublisher(t *testing.T, conn broker.Connection) *broker.Publisher {
	t.Helper()
	p, err := broker.NewPublisher(conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func newSender(t *testing.T, conn broker.Connection) *broker.Sender {
	t.Helper()
	s, err := broker.NewSender(conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func message(topic, key string, payload []byte) outbox.Message {
	return outbox.Message{EventID: uuid.Must(uuid.NewV7()), Topic: topic, Key: key, Payload: payload}
}

func row(topic, key string, payload []byte) outbox.Row {
	return outbox.Row{Message: message(topic, key, payload)}
}

// read returns the next n records of a topic from its start.
func read(t *testing.T, conn broker.Connection, topic string, n int) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(append(conn.Options(), kgo.ConsumeTopics(topic))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var records []*kgo.Record
	for len(records) < n {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

// stalling is a way to a broker that swallows requests of one kind while it is on, so that they are never answered.
type stalling struct {
	dial      func(context.Context, string, string) (net.Conn, error)
	key       kmsg.Key
	swallowed chan struct{} // gets a token for each

	mu sync.Mutex
	on bool
}

func stall(conn broker.Connection, key kmsg.Key) (*stalling, broker.Connection) {
	s := &stalling{dial: conn.Dial, key: key, swallowed: make(chan struct{}, 100), on: true}
	conn.Dial = s.connect
	return s, conn
}

func (s *stalling) off() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = false
}

func (s *stalling) swallow(request []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.on || kmsg.Key(binary.BigEndian.Uint16(request[4:])) != s.key {
		return false
	}
	s.swallowed <- struct{}{}
	return true
}

func (s *stalling) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := s.dial(ctx, network, addr)
	return &stallingConn{conn, s}, err
}

// stallingConn relies on the client writing one request at a time.
type stallingConn struct {
	net.Conn
	stalling *stalling
}

func (c *stallingConn) Write(request []byte) (int, error) {
	if c.stalling.swallow(request) {
		return len(request), nil
	}
	return c.Conn.Write(request)
}
