package kitchensql

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/database"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// Violations checks kitchen's own invariants in one snapshot, under live traffic or not.
func (s SQLite) Violations(ctx context.Context) (violations []audit.Violation, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		for _, check := range []func(*database.Conn) ([]audit.Violation, error){checkStock, checkClientKeys, checkHistories} {
			found, err := check(c)
			if err != nil {
				return err
			}
			violations = append(violations, found...)
		}
		return nil
	})
	return violations, err
}

func checkStock(c *database.Conn) (violations []audit.Violation, err error) {
	err = c.Query(`
		SELECT d.id, d.name, d.stock, coalesce(changed.total, 0), coalesce(taken.total, 0)
		FROM dishes d
		LEFT JOIN (SELECT dish_id, sum(delta) AS total FROM stock_changes GROUP BY dish_id) changed ON changed.dish_id = d.id
		LEFT JOIN (SELECT l.dish_id, sum(l.taken) AS total FROM order_lines l JOIN orders o ON o.id = l.order_id
			WHERE o.status NOT IN ('rejected', 'cancelled') GROUP BY l.dish_id) taken ON taken.dish_id = d.id
		WHERE d.stock < 0 OR d.stock <> coalesce(changed.total, 0) - coalesce(taken.total, 0)`,
		func(r database.Row) error {
			violations = append(violations, audit.Violation{
				Invariant: audit.Stock, Subject: "dish " + r.UUID(0).String(),
				Detail: fmt.Sprintf("%q has %d on hand, but %d was put in and live orders took %d", r.Text(1), r.Int(2), r.Int(3), r.Int(4)),
			})
			return nil
		})
	return violations, err
}

func checkClientKeys(c *database.Conn) (violations []audit.Violation, err error) {
	err = c.Query(`
		SELECT user_id, count(*), min(id) FROM orders WHERE client_idempotency_key IS NOT NULL
		GROUP BY user_id, client_idempotency_key HAVING count(*) > 1`,
		func(r database.Row) error {
			violations = append(violations, audit.Violation{
				Invariant: audit.ClientKey, Subject: "user " + r.Text(0),
				Detail: fmt.Sprintf("one key names %d orders, the first is %s", r.Int(1), r.UUID(2)),
			})
			return nil
		})
	return violations, err
}

// history is what is known of an order while its events pass by.
type history struct {
	order  uuid.UUID
	status lifecycle.Status // of the order
	seq    int64            // of the order
	at     lifecycle.Status // of its events so far
	events int64
	keys   map[string]bool
	broken string
}

func checkHistories(c *database.Conn) (violations []audit.Violation, err error) {
	var h history
	finish := func() {
		if detail := h.verdict(); detail != "" {
			violations = append(violations, audit.Violation{Invariant: audit.History, Subject: "order " + h.order.String(), Detail: detail})
		}
	}
	err = c.Query(`
		SELECT o.id, o.status, o.seq, e.seq, e.from_status, e.to_status, e.idempotency_key
		FROM orders o LEFT JOIN order_status_events e ON e.order_id = o.id ORDER BY o.id, e.seq`,
		func(r database.Row) error {
			if id := r.UUID(0); id != h.order {
				finish()
				h = history{order: id, status: lifecycle.Status(r.Text(1)), seq: r.Int(2), keys: map[string]bool{}}
			}
			if !r.Null(3) {
				h.add(r.Int(3), lifecycle.Status(r.Text(4)), lifecycle.Status(r.Text(5)), r.TextOrNil(6))
			}
			return nil
		})
	finish()
	return violations, err
}

func (h *history) add(seq int64, from, to lifecycle.Status, key *string) {
	h.events++
	switch {
	case seq != h.events:
		h.broken = fmt.Sprintf("event %d has seq %d", h.events, seq)
	case from != h.at:
		h.broken = fmt.Sprintf("event %d leaves %q, but the one before ended in %q", seq, from, h.at)
	case seq == 1 && to != lifecycle.Placed, seq > 1 && !lifecycle.Adjacent(from, to):
		h.broken = fmt.Sprintf("event %d goes from %q to %q", seq, from, to)
	case key != nil && h.keys[*key]:
		h.broken = fmt.Sprintf("event %d repeats a key", seq)
	}
	h.at = to
	if key != nil {
		h.keys[*key] = true
	}
}

func (h *history) verdict() string {
	switch {
	case h.order == uuid.Nil || h.broken != "":
		return h.broken
	case h.at != h.status:
		return fmt.Sprintf("is %s, but its events end in %q", h.status, h.at)
	case h.events != h.seq:
		return fmt.Sprintf("has seq %d, but %d events", h.seq, h.events)
	}
	return ""
}

// AuditOrders reads what the comparison with the other services needs, in one snapshot, by id.
func (s SQLite) AuditOrders(ctx context.Context) iter.Seq2[audit.Order, error] {
	return database.Rows(ctx, s.db, func(r database.Row) audit.Order {
		return audit.Order{
			ID: r.UUID(0), Status: audit.SetOf(lifecycle.Status(r.Text(1))), Entered: audit.SetOfList(r.Text(2)),
			User: r.Text(3), Total: money.Money{Amount: r.Int(4), Currency: r.Text(5)},
		}
	}, `SELECT o.id, o.status, group_concat(e.to_status), o.user_id, o.total, o.currency
		FROM orders o LEFT JOIN order_status_events e ON e.order_id = o.id GROUP BY o.id ORDER BY o.id`)
}

// Progress tells whether orders have changed in between two looks: whatever is done to an order adds an event, and none
// is ever deleted, so if it is equal twice, nothing was done.
type Progress struct {
	Events int64
	Last   time.Time // when the newest was written, by the database's clock
}

// AuditProgress reads the progress of the orders.
func (s SQLite) AuditProgress(ctx context.Context) (p Progress, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT count(*), coalesce(max(at), 0) FROM order_status_events`, func(r database.Row) error {
			p = Progress{Events: r.Int(0), Last: r.Time(1)}
			return nil
		})
	})
	return p, err
}
