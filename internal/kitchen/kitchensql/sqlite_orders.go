package kitchensql

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/database"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
)

const orderColumns = `id, user_id, establishment_id, status, reason, total, currency, comment, seq, accept_deadline,
	created_at, updated_at, coalesce(client_idempotency_key, ''), command_fingerprint`

func scanOrder(r database.Row) (o kitchen.Order, err error) {
	o = kitchen.Order{
		ID: r.UUID(0), UserID: r.Text(1), EstablishmentID: r.UUID(2), Status: lifecycle.Status(r.Text(3)), Reason: r.Text(4),
		Comment: r.Text(7), Seq: r.Int(8), AcceptDeadline: r.Time(9), CreatedAt: r.Time(10), UpdatedAt: r.Time(11),
		Key: idempotency.Key(r.Text(12)),
	}
	o.Total.Amount, o.Total.Currency = r.Int(5), r.Text(6)
	if !r.Null(13) {
		o.Command, err = idempotency.ParseFingerprint(r.Blob(13))
	}
	return o, err
}

// OrdersByKey implements [kitchen.PlacingTx].
func (t sqliteTx) OrdersByKey(keys []kitchen.UserKey) (map[kitchen.UserKey]kitchen.Order, error) {
	found := map[kitchen.UserKey]kitchen.Order{}
	for _, key := range keys {
		order, known, err := orderByKey(t.Conn, key)
		if err != nil {
			return nil, err
		}
		if known {
			found[key] = order
		}
	}
	return found, nil
}

func orderByKey(c *database.Conn, key kitchen.UserKey) (kitchen.Order, bool, error) {
	return oneOrder(c, `SELECT `+orderColumns+` FROM orders WHERE user_id = ? AND client_idempotency_key = ?`, key.UserID, string(key.Key))
}

// oneOrder returns the order that the query selects, with its lines.
func oneOrder(c *database.Conn, query string, args ...any) (order kitchen.Order, found bool, err error) {
	err = c.Query(query, func(r database.Row) (err error) {
		found = true
		order, err = scanOrder(r)
		return err
	}, args...)
	if err != nil || !found {
		return order, false, err
	}
	order.Lines, err = linesOf(c, order.ID)
	return order, true, err
}

// InsertOrders implements [kitchen.PlacingTx].
func (t sqliteTx) InsertOrders(orders []kitchen.Order) (inserted []uuid.UUID, err error) {
	for _, o := range orders {
		var key, command any
		if o.Key != "" {
			key, command = string(o.Key), o.Command.Bytes()
		}
		err := t.Exec(`INSERT INTO orders (id, user_id, establishment_id, status, reason, total, currency, comment, seq,
				accept_deadline, created_at, updated_at, client_idempotency_key, command_fingerprint)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			o.ID, o.UserID, o.EstablishmentID, string(o.Status), o.Reason, o.Total.Amount, o.Total.Currency, o.Comment, o.Seq,
			o.AcceptDeadline, o.CreatedAt, o.UpdatedAt, key, command)
		if err != nil {
			return nil, err
		}
		if t.Changed() == 0 {
			continue
		}
		if err := t.insertLines(o); err != nil {
			return nil, err
		}
		inserted = append(inserted, o.ID)
	}
	return inserted, nil
}

func (t sqliteTx) insertLines(o kitchen.Order) error {
	for i, l := range o.Lines {
		err := t.Exec(`INSERT INTO order_lines (order_id, no, dish_id, name, quantity, unit_price, total, taken) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			o.ID, i+1, l.DishID, l.Name, l.Quantity, l.UnitPrice, l.Total, l.Taken)
		if err != nil {
			return err
		}
	}
	return nil
}

func linesOf(c *database.Conn, orderID uuid.UUID) (lines []kitchen.Line, err error) {
	err = c.Query(`SELECT dish_id, name, quantity, unit_price, total, taken FROM order_lines WHERE order_id = ? ORDER BY no`,
		func(r database.Row) error {
			lines = append(lines, kitchen.Line{
				DishID: r.UUID(0), Name: r.Text(1), Quantity: r.Int(2), UnitPrice: r.Int(3), Total: r.Int(4), Taken: r.Int(5),
			})
			return nil
		}, orderID)
	return lines, err
}

// LockOrders implements [kitchen.ChangingTx].
func (t sqliteTx) LockOrders(ids []uuid.UUID) (map[uuid.UUID]kitchen.Order, error) {
	orders := map[uuid.UUID]kitchen.Order{}
	for _, id := range ids {
		err := t.Query(`SELECT `+orderColumns+` FROM orders WHERE id = ?`, func(r database.Row) (err error) {
			orders[id], err = scanOrder(r)
			return err
		}, id)
		if err != nil {
			return nil, err
		}
	}
	return orders, nil
}

// LinesOf implements [kitchen.ChangingTx].
func (t sqliteTx) LinesOf(ids []uuid.UUID) (map[uuid.UUID][]kitchen.Line, error) {
	lines := map[uuid.UUID][]kitchen.Line{}
	for _, id := range ids {
		var err error
		if lines[id], err = linesOf(t.Conn, id); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// UpdateStatuses implements [kitchen.ChangingTx].
func (t sqliteTx) UpdateStatuses(orders []kitchen.Order) error {
	for _, o := range orders {
		err := t.Exec(`UPDATE orders SET status = ?, reason = ?, seq = ?, updated_at = ? WHERE id = ?`,
			string(o.Status), o.Reason, o.Seq, o.UpdatedAt, o.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// Order implements [kitchen.Reader].
func (s SQLite) Order(ctx context.Context, id uuid.UUID) (order kitchen.Order, found bool, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) (err error) {
		order, found, err = oneOrder(c, `SELECT `+orderColumns+` FROM orders WHERE id = ?`, id)
		return err
	})
	return order, found, err
}

// OrderByKey implements [kitchen.Reader].
func (s SQLite) OrderByKey(ctx context.Context, key kitchen.UserKey) (order kitchen.Order, found bool, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) (err error) {
		order, found, err = orderByKey(c, key)
		return err
	})
	return order, found, err
}

// Orders implements [kitchen.Reader].
func (s SQLite) Orders(ctx context.Context, f kitchen.OrderFilter, before uuid.UUID, limit int) (orders []kitchen.Order, err error) {
	where, args := orderConditions(f, before)
	query := `SELECT ` + orderColumns + ` FROM orders WHERE ` + where + ` ORDER BY id DESC LIMIT ?`
	err = s.db.Read(ctx, func(c *database.Conn) error {
		err := c.Query(query, func(r database.Row) error {
			order, err := scanOrder(r)
			orders = append(orders, order)
			return err
		}, append(args, limit)...)
		for i := range orders {
			if err == nil {
				orders[i].Lines, err = linesOf(c, orders[i].ID)
			}
		}
		return err
	})
	return orders, err
}

func orderConditions(f kitchen.OrderFilter, before uuid.UUID) (where string, args []any) {
	conditions := []string{"TRUE"}
	add := func(set bool, condition string, arg any) {
		if set {
			conditions, args = append(conditions, condition), append(args, arg)
		}
	}
	add(f.UserID != "", "user_id = ?", f.UserID)
	add(f.EstablishmentID != uuid.Nil, "establishment_id = ?", f.EstablishmentID)
	add(f.Status != "", "status = ?", string(f.Status))
	add(f.Key != "", "client_idempotency_key = ?", string(f.Key))
	add(before != uuid.Nil, "id < ?", before)
	return strings.Join(conditions, " AND "), args
}

// Overdue implements [kitchen.Reader].
func (s SQLite) Overdue(ctx context.Context, limit int) (ids []uuid.UUID, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		now, err := c.Now()
		if err != nil {
			return err
		}
		return c.Query(`SELECT id FROM orders WHERE status = 'placed' AND accept_deadline <= ? ORDER BY accept_deadline LIMIT ?`,
			func(r database.Row) error {
				ids = append(ids, r.UUID(0))
				return nil
			}, now, limit)
	})
	return ids, err
}

// CountOverdue implements [kitchen.Reader].
func (s SQLite) CountOverdue(ctx context.Context) (n int64, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		now, err := c.Now()
		if err != nil {
			return err
		}
		return c.Query(`SELECT count(*) FROM orders WHERE status = 'placed' AND accept_deadline <= ?`, func(r database.Row) error {
			n = r.Int(0)
			return nil
		}, now)
	})
	return n, err
}
