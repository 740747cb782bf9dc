package messagesql

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kuhnya/consume"
	"kuhnya/internal/database"
	"kuhnya/internal/ops"
	"kuhnya/outbox"
)

// DeadLetters is the table of dead letters of one SQLite database.
type DeadLetters struct{ db *database.SQLite }

var (
	_ consume.DeadLetterStore = DeadLetters{}
	_ ops.DeadLetterStore     = DeadLetters{}
)

// NewDeadLetters returns the dead letters of a database that has the tables of [Migrations].
func NewDeadLetters(db *database.SQLite) DeadLetters { return DeadLetters{db} }

// Save implements [consume.DeadLetterStore].
func (d DeadLetters) Save(ctx context.Context, letter consume.DeadLetter) error {
	headers, err := encodeHeaders(outboxHeaders(letter.Headers))
	if err != nil {
		return fmt.Errorf("encode headers: %w", err)
	}
	return d.db.Write(ctx, func(c *database.Conn) error {
		return c.Exec(`INSERT INTO dead_letters (id, consumer_group, topic, partition, log_offset, key, value, headers, error_code,
				error_message, attempts, redrive_count, state, failed_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?) ON CONFLICT (consumer_group, topic, partition, log_offset) DO NOTHING`,
			uuid.Must(uuid.NewV7()), letter.Group, letter.Topic, int64(letter.Partition), letter.Offset, letter.Key, letter.Value,
			headers, letter.ErrorCode, letter.ErrorMessage, letter.Attempts, letter.RedriveCount, letter.FailedAt)
	})
}

const deadLetterColumns = `id, consumer_group, topic, partition, log_offset, key, value, headers, error_code, error_message,
	attempts, redrive_count, state, reason, failed_at`

func scanDeadLetter(r database.Row) (letter ops.DeadLetter, err error) {
	headers, err := decodeHeaders(r.Blob(7))
	return ops.DeadLetter{
		ID: r.UUID(0), State: ops.State(r.Text(12)), Reason: r.Text(13),
		DeadLetter: consume.DeadLetter{
			Group: r.Text(1), Topic: r.Text(2), Partition: int32(r.Int(3)), Offset: r.Int(4), Key: r.Blob(5), Value: r.Blob(6),
			Headers: consumeHeaders(headers), ErrorCode: r.Text(8), ErrorMessage: r.Text(9), Attempts: int(r.Int(10)),
			RedriveCount: int(r.Int(11)), FailedAt: r.Time(14),
		},
	}, err
}

func outboxHeaders(headers []consume.Header) []outbox.Header {
	converted := make([]outbox.Header, len(headers))
	for i, h := range headers {
		converted[i] = outbox.Header(h)
	}
	return converted
}

func consumeHeaders(headers []outbox.Header) []consume.Header {
	converted := make([]consume.Header, len(headers))
	for i, h := range headers {
		converted[i] = consume.Header(h)
	}
	return converted
}

// DeadLetter implements [ops.DeadLetterStore].
func (d DeadLetters) DeadLetter(ctx context.Context, id uuid.UUID) (letter ops.DeadLetter, found bool, err error) {
	err = d.db.Read(ctx, func(c *database.Conn) (err error) {
		letter, found, err = deadLetter(c, id)
		return err
	})
	return letter, found, err
}

func deadLetter(c *database.Conn, id uuid.UUID) (letter ops.DeadLetter, found bool, err error) {
	err = c.Query(`SELECT `+deadLetterColumns+` FROM dead_letters WHERE id = ?`, func(r database.Row) (err error) {
		found = true
		letter, err = scanDeadLetter(r)
		return err
	}, id)
	return letter, found, err
}

// DeadLetters implements [ops.DeadLetterStore].
func (d DeadLetters) DeadLetters(ctx context.Context, state ops.State, after uuid.UUID, limit int) (letters []ops.DeadLetter, err error) {
	err = d.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT `+deadLetterColumns+` FROM dead_letters WHERE (? = '' OR state = ?) AND id > ? ORDER BY id LIMIT ?`,
			func(r database.Row) error {
				letter, err := scanDeadLetter(r)
				letters = append(letters, letter)
				return err
			}, string(state), string(state), after, limit)
	})
	return letters, err
}

// CountDeadLetters implements [ops.DeadLetterStore].
func (d DeadLetters) CountDeadLetters(ctx context.Context) (counts ops.DeadLetterCounts, err error) {
	err = d.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT count(*) FILTER (WHERE state = 'open'), count(*) FILTER (WHERE state = 'redriven'),
			count(*) FILTER (WHERE state = 'discarded') FROM dead_letters`, func(r database.Row) error {
			counts = ops.DeadLetterCounts{Open: r.Int(0), Redriven: r.Int(1), Discarded: r.Int(2)}
			return nil
		})
	})
	return counts, err
}

// WriteDeadLetter implements [ops.DeadLetterStore].
func (d DeadLetters) WriteDeadLetter(ctx context.Context, f func(ops.DeadLetterTx) error) error {
	return d.db.Write(ctx, func(c *database.Conn) error { return f(deadLetterTx{c, Appender{c}}) })
}

type deadLetterTx struct {
	conn *database.Conn
	Appender
}

// LockDeadLetter implements [ops.DeadLetterTx]; the immediate transaction holds every lock.
func (t deadLetterTx) LockDeadLetter(id uuid.UUID) (ops.DeadLetter, bool, error) {
	return deadLetter(t.conn, id)
}

// SetState implements [ops.DeadLetterTx].
func (t deadLetterTx) SetState(id uuid.UUID, state ops.State, reason string) error {
	return t.conn.Exec(`UPDATE dead_letters SET state = ?, reason = ? WHERE id = ?`, string(state), reason, id)
}

// EachKey calls f with the record key of every dead letter in a state.
func (d DeadLetters) EachKey(ctx context.Context, state ops.State, f func(key string)) error {
	return d.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT key FROM dead_letters WHERE state = ? AND key IS NOT NULL`, func(r database.Row) error {
			f(r.Text(0))
			return nil
		}, string(state))
	})
}
