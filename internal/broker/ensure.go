package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

const (
	maxMessageBytesKey = "max.message.bytes"
	// A dead letter is its record plus the headers that say why; with this much room it still fits.
	deadLetterRoom = 64 << 10
)

// EnsureTopics creates the topics that don't exist, with the broker's default replication, and leaves existing ones
// alone, except that a dead-letter topic gets room for 64 KiB of headers above the largest record of its source. A
// broker that doesn't let us see or change that limit is no error. It may run in many processes at once.
func EnsureTopics(ctx context.Context, conn Connection, specs ...TopicSpec) error {
	admin, err := NewAdmin(conn)
	if err != nil {
		return err
	}
	defer admin.Close()
	for _, spec := range specs {
		if err := admin.ensure(ctx, spec); err != nil {
			return fmt.Errorf("ensure topic %s: %w", spec.Name, err)
		}
	}
	return nil
}

func (a *Admin) ensure(ctx context.Context, spec TopicSpec) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	configs := a.deadLetterConfigs(ctx, spec)
	partitions := spec.Partitions
	if partitions == 0 {
		partitions = DefaultPartitions
	}
	_, err := a.kafka.CreateTopic(ctx, partitions, -1, configs, spec.Name)
	if errors.Is(err, kerr.TopicAlreadyExists) {
		a.widen(ctx, spec.Name, configs)
		return nil
	}
	return err
}

// deadLetterConfigs returns nil for a topic of its own, or if the source's limit is not to be known.
func (a *Admin) deadLetterConfigs(ctx context.Context, spec TopicSpec) map[string]*string {
	if spec.DeadLetterOf == "" {
		return nil
	}
	limit, err := a.MaxMessageBytes(ctx, spec.DeadLetterOf)
	if err != nil {
		return nil
	}
	wide := strconv.Itoa(limit + deadLetterRoom)
	return map[string]*string{maxMessageBytesKey: &wide}
}

// widen raises the limit of an existing dead-letter topic. Dead letters have a way around a limit (they go without
// their value), so a refusal is not worth an error.
func (a *Admin) widen(ctx context.Context, topic string, configs map[string]*string) {
	wide := configs[maxMessageBytesKey]
	if wide == nil {
		return
	}
	want, _ := strconv.Atoi(*wide)
	if have, err := a.MaxMessageBytes(ctx, topic); err == nil && have < want {
		change := kadm.AlterConfig{Op: kadm.SetConfig, Name: maxMessageBytesKey, Value: wide}
		_, _ = a.kafka.AlterTopicConfigs(ctx, []kadm.AlterConfig{change}, topic)
	}
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
