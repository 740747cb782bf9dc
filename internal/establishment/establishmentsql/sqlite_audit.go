package establishmentsql

import (
	"context"
	"iter"

	"kuhnya/internal/audit"
	"kuhnya/internal/database"
	"kuhnya/internal/lifecycle"
)

// AuditTickets reads what the comparison with orders needs, in one snapshot, by the id of the order.
func (s SQLite) AuditTickets(ctx context.Context) iter.Seq2[audit.Ticket, error] {
	return database.Rows(ctx, s.db, func(r database.Row) audit.Ticket {
		return audit.Ticket{
			ID: r.UUID(0), Hidden: r.Bool(1), Status: audit.SetOf(lifecycle.Status(r.Text(2))), Sent: audit.SetOfList(r.Text(3)),
		}
	}, `SELECT t.order_id, t.hidden, t.status, group_concat(s.status) FROM tickets t
		LEFT JOIN ticket_steps s ON s.order_id = t.order_id AND s.sent_at IS NOT NULL GROUP BY t.order_id ORDER BY t.order_id`)
}

// Progress tells whether tickets have changed in between two looks at which no step was unsent: if it is equal twice,
// nothing was done. What kitchen says adds a ticket, shows one, or raises its kitchen_seq. A press adds a step; it is
// still unsent, or was sent, which adds to those, or was dropped, which only a higher kitchen_seq does.
type Progress struct {
	Tickets, Shown, KitchenSeqs int64 // how many, of them not hidden, and the sum of their kitchen_seq
	Sent, Unsent                int64 // steps
}

// AuditProgress reads the progress of the tickets in one snapshot.
func (s SQLite) AuditProgress(ctx context.Context) (p Progress, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		err := c.Query(`SELECT count(*), coalesce(sum(NOT hidden), 0), coalesce(sum(kitchen_seq), 0) FROM tickets`, func(r database.Row) error {
			p.Tickets, p.Shown, p.KitchenSeqs = r.Int(0), r.Int(1), r.Int(2)
			return nil
		})
		if err != nil {
			return err
		}
		return c.Query(`SELECT count(sent_at), count(*) - count(sent_at) FROM ticket_steps`, func(r database.Row) error {
			p.Sent, p.Unsent = r.Int(0), r.Int(1)
			return nil
		})
	})
	return p, err
}
