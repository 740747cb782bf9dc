package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/event"
)

const topicsTimeout = 10 * time.Second

// messaging is the process's way to the broker, embedded or not.
type messaging struct {
	connection broker.Connection
	admin      *broker.Admin
	embedded   *embedded.Broker // nil with an external broker
}

// open reaches the broker and brings its topics into being. Whatever it returns, close ends what it began.
func (m *messaging) open(ctx context.Context, c Config) (err error) {
	m.connection = broker.Connection{Seeds: c.KafkaBrokers}
	if len(c.KafkaBrokers) == 0 {
		if m.embedded, err = openEmbedded(ctx, c); err != nil {
			return err
		}
		m.connection = m.embedded.Connection()
	}
	if m.admin, err = broker.NewAdmin(m.connection); err != nil || m.embedded != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, topicsTimeout)
	defer cancel()
	if err = broker.EnsureTopics(ctx, m.connection, broker.DefaultPartitions, broker.TopicNames(c.Topics)...); err != nil {
		return fmt.Errorf("broker at %v: %w", c.KafkaBrokers, err)
	}
	return nil
}

func openEmbedded(ctx context.Context, c Config) (*embedded.Broker, error) {
	return embedded.Open(ctx, embedded.Options{
		Dir: filepath.Join(c.Data, "broker"), Addr: c.KafkaAddr, Topics: c.Topics, Reserve: c.BrokerReserve,
		Logger: c.Log.With("component", "broker"),
	})
}

// deadLetterLimit is the size of the largest record that every dead-letter topic of a group takes and our clients send,
// or 0 if the broker doesn't tell: not every broker lets us see its limits.
func (m *messaging) deadLetterLimit(ctx context.Context, group string, topics []string, log *slog.Logger) int32 {
	limit := broker.MaxRequestBytes
	for _, topic := range topics {
		n, err := m.admin.MaxMessageBytes(ctx, event.DeadLetterTopic(topic, group))
		if err != nil {
			log.Warn("size limit of dead letters unknown, using Kafka's default", "error", err)
			return 0
		}
		limit = min(limit, n)
	}
	return int32(limit)
}

func (m *messaging) close(ctx context.Context) error {
	if m.admin != nil {
		m.admin.Close()
	}
	if m.embedded != nil {
		return m.embedded.Close(ctx)
	}
	return nil
}
