package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/ops"
	"kuhnya/internal/opsclient"
)

// processLogs are what running processes say, each group by the service of its name.
type processLogs map[string]opsclient.Service

// askProcesses finds the processes whose services read. They run on the audited data: they take a token that is signed
// with its key, or one that somebody has who knows them. why says why they are needed.
func (a *Auditor) askProcesses(ctx context.Context, why string) (logs, error) {
	found, err := a.findReaders(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %s; name the processes that run on %s with --url, or their brokers with --kafka-brokers: %w",
			ErrNotAtRest, why, a.Data, err)
	}
	return found, nil
}

func (a *Auditor) findReaders(ctx context.Context) (processLogs, error) {
	client, err := a.Client()
	if err != nil {
		return nil, err
	}
	var readers []string
	for _, c := range a.Topics.Consumers() {
		readers = append(readers, c.Group)
	}
	found, absent, err := client.Find(ctx, readers...)
	switch {
	case opsclient.CodeOf(err) == fault.Unauthenticated:
		return nil, fmt.Errorf("%w It runs on other data, or the token is not for it", err)
	case err != nil:
		return nil, err
	case len(absent) > 0:
		return nil, errors.New("no process there runs " + strings.Join(absent, ", "))
	}
	l := processLogs{}
	for _, s := range found {
		l[s.Name] = s
	}
	return l, nil
}

func (l processLogs) close(context.Context) error { return nil }

func (l processLogs) reading(ctx context.Context, c event.Consumer) (read []ops.Reading, err error) {
	overview, err := l[c.Group].Overview(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrNotAtRest, c.Group, err)
	case overview.ReadingError != "":
		return nil, fmt.Errorf("%w: %s does not know how far it has read, since %s; ask again when it does", ErrNotAtRest, c.Group, overview.ReadingError)
	}
	for _, r := range overview.Reading {
		if r.Topic == c.Topic {
			read = append(read, ops.Reading{Topic: r.Topic, Partition: r.Partition, End: r.End, Committed: r.Committed})
		}
	}
	if len(read) == 0 {
		return nil, fmt.Errorf("%w: %s reads no topic %s; name it with --topic-prefix", ErrNotAtRest, c.Group, c.Topic)
	}
	return read, nil
}
