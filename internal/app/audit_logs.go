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
	"kuhnya/internal/ops"
	"kuhnya/outbox"
)

// logs tell how far groups have read. Where they can't be asked, nobody knows whether the services rest: the error is
// [ErrNotAtRest].
type logs interface {
	// reading is how far a group has come in a topic that it reads, by partition.
	reading(ctx context.Context, c event.Consumer) ([]ops.Reading, error)
	close(ctx context.Context) error
}

// openLogs reaches the brokers that were named, or opens the broker folder and keeps it until the logs are closed. If
// that is somebody else's, the processes that run are asked.
func (a *Auditor) openLogs(ctx context.Context) (logs, error) {
	if len(a.KafkaBrokers) > 0 {
		return openBroker(ctx, brokerLogs{}, broker.Connection{Seeds: a.KafkaBrokers})
	}
	dir := filepath.Join(a.Data, "broker")
	folder, err := embedded.Open(ctx, embedded.Options{Dir: dir, Existing: true, Topics: a.Topics})
	switch {
	case errors.Is(err, embedded.ErrLocked):
		return a.askProcesses(ctx, "a running broker has "+dir)
	case errors.Is(err, embedded.ErrAbsent):
		return a.askProcesses(ctx, "no broker has written to "+dir)
	case err != nil:
		return nil, err
	}
	return openBroker(ctx, brokerLogs{folder: folder}, folder.Connection())
}

// brokerLogs are what a broker says.
type brokerLogs struct {
	admin  *broker.Admin
	folder *embedded.Broker // nil with an external broker
}

func openBroker(ctx context.Context, l brokerLogs, connection broker.Connection) (logs, error) {
	var err error
	if l.admin, err = broker.NewAdmin(connection); err != nil {
		return nil, errors.Join(err, l.close(ctx))
	}
	return l, nil
}

func (l brokerLogs) close(ctx context.Context) error {
	if l.admin != nil {
		l.admin.Close()
	}
	if l.folder != nil {
		return l.folder.Close(context.WithoutCancel(ctx))
	}
	return nil
}

func (l brokerLogs) reading(ctx context.Context, c event.Consumer) ([]ops.Reading, error) {
	read, err := readTopic(ctx, l.admin, c)
	return read, unknown(err, c.Topic)
}

func unknown(err error, topic string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("%w: the broker has no topic %s; name it with --topic-prefix", ErrNotAtRest, topic)
	}
	return fmt.Errorf("%w: %w", ErrNotAtRest, err)
}

// place is a partition as a group reads it. Each group has its own look at where a topic ends: what one of them had read
// up to there says nothing about what another has seen a moment later.
type place struct {
	event.Consumer
	partition int32
}

// unread returns where the logs end that the declared groups read, and how many records before that they have not
// committed. A commit beyond an end counts as well: either records came meanwhile, or the log has lost some.
func (a *Auditor) unread(ctx context.Context, logs logs) (ends map[place]int64, unread int64, err error) {
	ends = map[place]int64{}
	for _, c := range a.Topics.Consumers() {
		read, err := logs.reading(ctx, c)
		if err != nil {
			return nil, 0, err
		}
		for _, r := range read {
			ends[place{c, r.Partition}] = r.End
			unread += max(r.End-r.Committed, r.Committed-r.End)
		}
	}
	return ends, unread, nil
}

// mustBePublished makes sure that a broker folder is the one that carried the records: beside a service that now uses
// another broker lies an old folder in which everything was read long ago. Kitchen's newest event was published, at a
// time not before it was written, or its row is parked; and the folder never trims the newest record. Whoever names
// brokers knows them, and theirs may have deleted what is old; and processes know theirs.
func (a *Auditor) mustBePublished(ctx context.Context, logs logs, last time.Time) error {
	l, ok := logs.(brokerLogs)
	if !ok || l.folder == nil || last.UnixMicro() == 0 {
		return nil
	}
	found, err := l.anySince(ctx, a.Topics.Orders(), last)
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

// anySince says whether a topic has a record of that time, to the millisecond, or a later one.
func (l brokerLogs) anySince(ctx context.Context, topic string, at time.Time) (found bool, err error) {
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
