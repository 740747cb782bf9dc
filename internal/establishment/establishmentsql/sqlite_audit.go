package establishmentsql

import (
	"context"

	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/database"
	"kuhnya/internal/lifecycle"
)

// AuditTickets reads what the comparison with orders needs, in one snapshot.
func (s SQLite) AuditTickets(ctx context.Context) (tickets audit.Tickets, err error) {
	tickets = audit.Tickets{Status: map[uuid.UUID]lifecycle.Status{}, Sent: map[uuid.UUID][]lifecycle.Status{}}
	err = s.db.Read(ctx, func(c *database.Conn) error {
		err := c.Query(`SELECT order_id, status FROM tickets WHERE NOT hidden`, func(r database.Row) error {
			tickets.Status[r.UUID(0)] = lifecycle.Status(r.Text(1))
			return nil
		})
		if err != nil {
			return err
		}
		return c.Query(`SELECT order_id, status FROM ticket_steps WHERE sent_at IS NOT NULL ORDER BY order_id, no`, func(r database.Row) error {
			id := r.UUID(0)
			tickets.Sent[id] = append(tickets.Sent[id], lifecycle.Status(r.Text(1)))
			return nil
		})
	})
	return tickets, err
}

// UnsentSteps counts the steps that are not marked as sent; at rest there is none.
func (s SQLite) UnsentSteps(ctx context.Context) (int64, error) {
	backlog, err := s.Backlog(ctx)
	return backlog.Steps, err
}
