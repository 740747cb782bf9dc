package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
)

const maxMessageBytesKey = "max.message.bytes"

// EnsureTopics creates the topics that don't exist, with the broker's default replication, and leaves existing ones
// alone. It may run in many processes at once.
func EnsureTopics(ctx context.Context, conn Connection, partitions int32, names ...string) error {
	admin, err := NewAdmin(conn)
	if err != nil {
		return err
	}
	defer admin.Close()
	for _, name := range names {
		if err := admin.ensure(ctx, partitions, name); err != nil {
			return fmt.Errorf("ensure topic %s: %w", name, err)
		}
	}
	return nil
}

func (a *Admin) ensure(ctx context.Context, partitions int32, name string) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	_, err := a.kafka.CreateTopic(ctx, partitions, -1, nil, name)
	if errors.Is(err, kerr.TopicAlreadyExists) {
		return nil
	}
	return err
}

// MaxMessageBytes is the size of the largest batch that a topic takes.
func (a *Admin) MaxMessageBytes(ctx context.Context, topic string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	described, err := a.kafka.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return 0, fmt.Errorf("describe topic %s: %w", topic, err)
	}
	config, err := described.On(topic, nil)
	if err == nil {
		err = config.Err
	}
	if err != nil {
		return 0, fmt.Errorf("describe topic %s: %w", topic, err)
	}
	for _, c := range config.Configs {
		if c.Key == maxMessageBytesKey && c.Value != nil {
			return strconv.Atoi(*c.Value)
		}
	}
	return 0, fmt.Errorf("describe topic %s: no %s", topic, maxMessageBytesKey)
}
