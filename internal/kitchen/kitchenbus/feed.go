package kitchenbus

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/internal/broker"
	"kuhnya/internal/event"
)

// Feed reads the topic of orders from its end on and wakes whoever watches an order that a record is about, wherever
// the change was made. It belongs to no group: every process has its own, sees every record, and commits nothing. A
// broker that is away delays it; what was told before a feed began, or fell out of the log before it was read, wakes
// nobody. Those who watch therefore also look from time to time.
type Feed struct {
	client *kgo.Client
	leave  context.CancelFunc // ends what the client still asks of the broker
	hub    *Hub
	log    *slog.Logger
}

// NewFeed makes a feed of the hub; it connects when needed. Close it after Run has ended.
func NewFeed(conn broker.Connection, topics event.Topics, hub *Hub, log *slog.Logger) (*Feed, error) {
	lifetime, leave := context.WithCancel(context.Background())
	client, err := kgo.NewClient(append(conn.Options(),
		kgo.WithContext(lifetime),
		kgo.ConsumeTopics(topics.Orders()),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtEnd()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()),
		kgo.DisableFetchSessions(), // closing one would wait for a broker that has fallen silent
	)...)
	if err != nil {
		leave()
		return nil, fmt.Errorf("make feed: %w", err)
	}
	return &Feed{client: client, leave: leave, hub: hub, log: log}, nil
}

// Close ends the connection. A client that closes takes leave of its broker, and waits a second for one that is silent:
// too long at the end of a process, for nothing that the broker does not see from the connection.
func (f *Feed) Close() {
	f.leave()
	f.client.Close()
}

// Run wakes watchers until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	failing := false
	for {
		fetches := f.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return
		}
		fetches.EachRecord(f.tell)
		err := fetches.Err()
		if err != nil && !failing {
			f.log.Warn("topic of orders unreadable, streams look for changes with each heartbeat", "error", err)
		}
		failing = err != nil
	}
}

// tell wakes those who watch the order of a record. A redriven record tells one group what all others have heard.
func (f *Feed) tell(r *kgo.Record) {
	if _, redriven := consume.RedrivenFor(r.Headers); redriven {
		return
	}
	if orderID, err := uuid.ParseBytes(r.Key); err == nil {
		f.hub.Wake(orderID)
	}
}
