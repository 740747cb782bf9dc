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

// summaryColumns are what lists have: length tells the size of a value without reading it.
var summaryColumns = fmt.Sprintf(`id, consumer_group, topic, partition, log_offset, substr(key, 1, %d), error_code, error_message,
	attempts, redrive_count, state, reason, failed_at, coalesce(length(key), 0), coalesce(length(value), 0)`, ops.MaxListedKey)

func scanSummary(r database.Row) ops.Summary {
	return ops.Summary{KeyBytes: r.Int(13), ValueBytes: r.Int(14), DeadLetter: ops.DeadLetter{
		ID: r.UUID(0), State: ops.State(r.Text(10)), Reason: r.Text(11),
		DeadLetter: consume.DeadLetter{
			Group: r.Text(1), Topic: r.Text(2), Partition: int32(r.Int(3)), Offset: r.Int(4), Key: r.Blob(5),
			ErrorCode: r.Text(6), ErrorMessage: r.Text(7), Attempts: int(r.Int(8)), RedriveCount: int(r.Int(9)), FailedAt: r.Time(12),
		},
	}}
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
	err = c.Query(`SELECT `+summaryColumns+`, key, value, headers FROM dead_letters WHERE id = ?`, func(r database.Row) error {
		found = true
		letter = scanSummary(r).DeadLetter
		letter.Key, letter.Value = r.Blob(15), r.Blob(16)
		headers, err := decodeHeaders(r.Blob(17))
		letter.Headers = consumeHeaders(headers)
		return err
	}, id)
	return letter, found, err
}

// DeadLetters implements [ops.DeadLetterStore].
func (d DeadLetters) DeadLetters(ctx context.Context, state ops.State, after uuid.UUID, limit int) (letters []ops.Summary, err error) {
	condition, args := "", []any{after, limit}
	if state != "" { // a condition that may select all would hide the index from the planner
		condition, args = `state = ? AND`, []any{string(state), after, limit}
	}
	err = d.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT `+summaryColumns+` FROM dead_letters WHERE `+condition+` id > ? ORDER BY id LIMIT ?`,
			func(r database.Row) error {
				letters = append(letters, scanSummary(r))
				return nil
			}, args...)
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
