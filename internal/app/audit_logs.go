package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/event"
	"kuhnya/outbox"
)

// logs are the topics that the declared groups read, to look at.
type logs struct {
	topics   event.Topics
	admin    *broker.Admin
	embedded *embedded.Broker // nil with an external broker
}

// partition is one of a topic.
type partition struct {
	topic string
	no    int32
}

// openLogs reaches the brokers that were named, or opens the broker folder and keeps it until the logs are closed. A
// broker that can't be asked is [ErrNotAtRest].
func (a *Auditor) openLogs(ctx context.Context) (*logs, error) {
	l := &logs{topics: a.Topics}
	connection := broker.Connection{Seeds: a.KafkaBrokers}
	var err error
	if len(a.KafkaBrokers) == 0 {
		dir := filepath.Join(a.Data, "broker")
		if l.embedded, err = embedded.Open(ctx, embedded.Options{Dir: dir, Existing: true, Topics: a.Topics}); err != nil {
			return nil, unopened(err, dir)
		}
		connection = l.embedded.Connection()
	}
	if l.admin, err = broker.NewAdmin(connection); err != nil {
		return nil, errors.Join(err, l.close(ctx))
	}
	return l, nil
}

func unopened(err error, dir string) error {
	switch {
	case errors.Is(err, embedded.ErrLocked):
		return fmt.Errorf("%w: the broker is running; name its address with --kafka-brokers, or stop it", ErrNotAtRest)
	case errors.Is(err, embedded.ErrAbsent):
		return fmt.Errorf("%w: no broker has written to %s; name the brokers in use with --kafka-brokers", ErrNotAtRest, dir)
	}
	return err
}

func (l *logs) close(ctx context.Context) error {
	if l.admin != nil {
		l.admin.Close()
	}
	if l.embedded != nil {
		return l.embedded.Close(context.WithoutCancel(ctx))
	}
	return nil
}

// unread returns the ends of the logs, read first, and how many records before them the declared groups have not
// committed. A commit beyond an end counts as well: either records came meanwhile, or the log has lost some.
func (l *logs) unread(ctx context.Context) (ends map[partition]int64, unread int64, err error) {
	ends = map[partition]int64{}
	for _, c := range l.topics.Consumers() {
		starts, topicEnds, err := l.admin.Bounds(ctx, c.Topic)
		if err != nil {
			return nil, 0, unknown(err, c.Topic)
		}
		committed, err := l.admin.Committed(ctx, c.Group, c.Topic)
		if err != nil {
			return nil, 0, unknown(err, c.Topic)
		}
		for p, end := range topicEnds {
			ends[partition{c.Topic, p}] = end
			unread += distance(max(starts[p], committed[p]), end)
		}
	}
	return ends, unread, nil
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// ends are the ends of the logs alone.
func (l *logs) ends(ctx context.Context) (map[partition]int64, error) {
	ends, _, err := l.unread(ctx)
	return ends, err
}

// anySince says whether a topic has a record of that time, to the millisecond, or a later one.
func (l *logs) anySince(ctx context.Context, topic string, at time.Time) (found bool, err error) {
	listed, err := l.admin.Kafka().ListOffsetsAfterMilli(ctx, at.UnixMilli(), topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return false, unknown(fmt.Errorf("list offsets of %s: %w", topic, err), topic)
	}
	listed.Each(func(o kadm.ListedOffset) { found = found || o.Timestamp >= at.UnixMilli() })
	return found, nil
}

// mustBePublished makes sure that a broker folder is the one that carried the records: beside a service that now uses
// another broker lies an old folder in which everything was read long ago. Kitchen's newest event was published, at a
// time not before it was written, or its row is parked; and the folder never trims the newest record.
func (a *Auditor) mustBePublished(ctx context.Context, logs *logs, last time.Time) error {
	if len(a.KafkaBrokers) > 0 || last.UnixMicro() == 0 {
		return nil // whoever names brokers knows them, and theirs may have deleted what is old
	}
	found, err := logs.anySince(ctx, a.Topics.Orders(), last)
	if err != nil {
		return err
	}
	err = messagesql.NewOutbox(a.databases[Kitchen]).EachParked(ctx, func(r outbox.Row, _ string) {
		found = found || !r.CreatedAt.Before(last)
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: the newest order's record is not in the broker folder; name the brokers in use with --kafka-brokers", ErrNotAtRest)
	}
	return err
}

// unknown: where the logs can't be asked, nobody knows whether the services rest.
func unknown(err error, topic string) error {
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("%w: the broker has no topic %s; name it with --topic-prefix", ErrNotAtRest, topic)
	}
	return fmt.Errorf("%w: %w", ErrNotAtRest, err)
}
