package messagesql

import (
	"context"
	"fmt"
	"time"

	"kuhnya/internal/database"
	"kuhnya/outbox"
)

// MaxMessage is the size in bytes above which a message is refused at insert, below the usual limit of brokers by room
// for their framing.
const MaxMessage = 1<<20 - 4096

// Appender writes messages in the business transaction that its connection is in. Stores embed it.
type Appender struct{ Conn *database.Conn }

// AppendOutbox appends messages to the outbox; they are published after the transaction commits, or never.
func (a Appender) AppendOutbox(messages []outbox.Message) error {
	if len(messages) == 0 {
		return nil
	}
	now, err := a.Conn.Now()
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := outbox.Check(m, MaxMessage); err != nil {
			return err
		}
		headers, err := encodeHeaders(m.Headers)
		if err != nil {
			return fmt.Errorf("encode headers of %s: %w", m.EventID, err)
		}
		err = a.Conn.Exec(`INSERT INTO outbox (event_id, topic, key, headers, payload, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
			m.EventID, m.Topic, m.Key, headers, m.Payload, now)
		if err != nil {
			return fmt.Errorf("append %s to the outbox: %w", m.EventID, err)
		}
	}
	return nil
}

// Outbox is the outbox of one SQLite database.
type Outbox struct{ db *database.SQLite }

var _ outbox.Store = Outbox{}

// NewOutbox returns the outbox of a database that has the tables of [Migrations].
func NewOutbox(db *database.SQLite) Outbox { return Outbox{db} }

// Acquire implements [outbox.Store].
func (o Outbox) Acquire(ctx context.Context, owner string, ttl time.Duration) (lease outbox.Lease, ok bool, err error) {
	err = o.db.Write(ctx, func(c *database.Conn) error {
		now, err := c.Now()
		if err != nil {
			return err
		}
		return c.Query(`UPDATE outbox_lease SET owner = ?, epoch = epoch + 1, expires = ? WHERE expires <= ? RETURNING epoch`,
			func(r database.Row) error {
				lease, ok = outbox.Lease{Owner: owner, Epoch: r.Int(0)}, true
				return nil
			}, owner, now.Add(ttl), now)
	})
	return lease, ok && err == nil, err
}

// Renew implements [outbox.Store].
func (o Outbox) Renew(ctx context.Context, lease outbox.Lease, ttl time.Duration) error {
	return o.db.Write(ctx, func(c *database.Conn) error {
		now, err := c.Now()
		if err != nil {
			return err
		}
		err = c.Exec(`UPDATE outbox_lease SET expires = ? WHERE owner = ? AND epoch = ? AND expires > ?`,
			now.Add(ttl), lease.Owner, lease.Epoch, now)
		if err == nil && c.Changed() == 0 {
			return outbox.ErrLeaseLost
		}
		return err
	})
}

// Release implements [outbox.Store].
func (o Outbox) Release(ctx context.Context, lease outbox.Lease) error {
	return o.db.Write(ctx, func(c *database.Conn) error {
		return c.Exec(`UPDATE outbox_lease SET owner = '', expires = 0 WHERE owner = ? AND epoch = ?`, lease.Owner, lease.Epoch)
	})
}

// Pending implements [outbox.Store].
func (o Outbox) Pending(ctx context.Context, after int64, limit int) (rows []outbox.Row, err error) {
	err = o.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT id, event_id, topic, key, headers, payload, created_at FROM outbox WHERE id > ? ORDER BY id LIMIT ?`,
			func(r database.Row) error {
				row := outbox.Row{ID: r.Int(0), CreatedAt: r.Time(6)}
				row.EventID, row.Topic, row.Key, row.Payload = r.UUID(1), r.Text(2), r.Text(3), r.Blob(5)
				row.Headers, err = decodeHeaders(r.Blob(4))
				rows = append(rows, row)
				return err
			}, after, limit)
	})
	return rows, err
}

// Delete implements [outbox.Store].
func (o Outbox) Delete(ctx context.Context, lease outbox.Lease, ids []int64) error {
	return o.settle(ctx, lease, func(c *database.Conn) error {
		for _, id := range ids {
			if err := c.Exec(`DELETE FROM outbox WHERE id = ?`, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Park implements [outbox.Store].
func (o Outbox) Park(ctx context.Context, lease outbox.Lease, id int64, reason string) error {
	return o.settle(ctx, lease, func(c *database.Conn) error {
		now, err := c.Now()
		if err != nil {
			return err
		}
		err = c.Exec(`INSERT INTO outbox_parked (id, event_id, topic, key, headers, payload, created_at, reason, parked_at)
			SELECT id, event_id, topic, key, headers, payload, created_at, ?, ? FROM outbox WHERE id = ?`, reason, now, id)
		if err != nil {
			return err
		}
		return c.Exec(`DELETE FROM outbox WHERE id = ?`, id)
	})
}

// settle runs f only under the epoch in force: a relay whose lease has passed on settles nothing any more.
func (o Outbox) settle(ctx context.Context, lease outbox.Lease, f func(*database.Conn) error) error {
	return o.db.Write(ctx, func(c *database.Conn) error {
		held := false
		err := c.Query(`SELECT 1 FROM outbox_lease WHERE owner = ? AND epoch = ?`, func(database.Row) error {
			held = true
			return nil
		}, lease.Owner, lease.Epoch)
		if err != nil {
			return err
		}
		if !held {
			return outbox.ErrLeaseLost
		}
		return f(c)
	})
}

// Depth implements [outbox.Store].
func (o Outbox) Depth(ctx context.Context) (depth outbox.Depth, err error) {
	err = o.db.Read(ctx, func(c *database.Conn) error {
		now, err := c.Now()
		if err != nil {
			return err
		}
		return c.Query(`SELECT (SELECT count(*) FROM outbox), (SELECT min(created_at) FROM outbox), (SELECT count(*) FROM outbox_parked)`,
			func(r database.Row) error {
				depth.Waiting, depth.Parked = r.Int(0), r.Int(2)
				if !r.Null(1) {
					depth.OldestAge = now.Sub(r.Time(1))
				}
				return nil
			})
	})
	return depth, err
}

// EachParked calls f with every parked row, without its headers and payload, and the reason why it is parked, by id.
func (o Outbox) EachParked(ctx context.Context, f func(row outbox.Row, reason string)) error {
	return o.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT id, event_id, topic, key, created_at, reason FROM outbox_parked ORDER BY id`, func(r database.Row) error {
			row := outbox.Row{ID: r.Int(0), CreatedAt: r.Time(4)}
			row.EventID, row.Topic, row.Key = r.UUID(1), r.Text(2), r.Text(3)
			f(row, r.Text(5))
			return nil
		})
	})
}
