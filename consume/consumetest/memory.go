package consumetest

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"kuhnya/consume"
)

// Memory is a dead-letter store in memory. Its zero value is empty and ready.
type Memory struct {
	mu   sync.Mutex
	rows []consume.DeadLetter
}

// Save implements [consume.DeadLetterStore].
func (m *Memory) Save(ctx context.Context, d consume.DeadLetter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.ContainsFunc(m.rows, func(row consume.DeadLetter) bool { return identity(row) == identity(d) }) {
		m.rows = append(m.rows, clone(d))
	}
	return nil
}

// List returns all dead letters in the order in which they were saved.
func (m *Memory) List(context.Context) ([]consume.DeadLetter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := make([]consume.DeadLetter, 0, len(m.rows))
	for _, row := range m.rows {
		rows = append(rows, clone(row))
	}
	return rows, nil
}

type id struct {
	group, topic string
	partition    int32
	offset       int64
}

func identity(d consume.DeadLetter) id { return id{d.Group, d.Topic, d.Partition, d.Offset} }

func clone(d consume.DeadLetter) consume.DeadLetter {
	d.Key, d.Value, d.Headers = bytes.Clone(d.Key), bytes.Clone(d.Value), slices.Clone(d.Headers)
	for i := range d.Headers {
		d.Headers[i].Value = bytes.Clone(d.Headers[i].Value)
	}
	return d
}
