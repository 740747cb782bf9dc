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

func openMessaging(ctx context.Context, c Config) (*messaging, error) {
	m := &messaging{connection: broker.Connection{Seeds: c.KafkaBrokers}}
	if len(c.KafkaBrokers) == 0 {
		local, err := OpenBroker(ctx, c.Data, c.KafkaAddr, c.Topics, c.Log)
		if err != nil {
			return nil, err
		}
		m.embedded, m.connection = local, local.Connection()
	}
	admin, err := broker.NewAdmin(m.connection)
	if err != nil {
		return nil, err
	}
	m.admin = admin
	if m.embedded == nil {
		ctx, cancel := context.WithTimeout(ctx, topicsTimeout)
		defer cancel()
		if err := broker.EnsureTopics(ctx, m.connection, broker.Specs(c.Topics)...); err != nil {
			m.close(ctx)
			return nil, fmt.Errorf("broker at %v: %w", c.KafkaBrokers, err)
		}
	}
	return m, nil
}

// OpenBroker opens the embedded broker of a data folder.
func OpenBroker(ctx context.Context, data, addr string, topics event.Topics, log *slog.Logger) (*embedded.Broker, error) {
	return embedded.Open(ctx, embedded.Options{
		Dir: filepath.Join(data, "broker"), Addr: addr, Topics: topics, Logger: log.With("component", "broker"),
	})
}

// deadLetterLimit is the size of the largest record that every dead-letter topic of a group takes.
func (m *messaging) deadLetterLimit(ctx context.Context, group string, topics []string) (limit int, err error) {
	for _, topic := range topics {
		n, err := m.admin.MaxMessageBytes(ctx, event.DeadLetterTopic(topic, group))
		if err != nil {
			return 0, err
		}
		if limit == 0 || n < limit {
			limit = n
		}
	}
	return limit, nil
}

func (m *messaging) close(ctx context.Context) error {
	m.admin.Close()
	if m.embedded != nil {
		return m.embedded.Close(ctx)
	}
	return nil
}
