package establishmentsql

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"kuhnya/internal/database"
	"kuhnya/internal/establishment"
	"kuhnya/internal/lifecycle"
)

const ticketColumns = `order_id, code, establishment_id, status, reason, lines, comment, total, currency, accept_deadline,
	kitchen_seq, hidden, entered, created_at, updated_at`

const selectTicket = `SELECT ` + ticketColumns + `,
	NOT EXISTS (SELECT 1 FROM ticket_steps s WHERE s.order_id = tickets.order_id AND s.sent_at IS NULL) FROM tickets `

func scanTicket(r database.Row) (t establishment.Ticket, err error) {
	t = establishment.Ticket{
		OrderID: r.UUID(0), Code: r.Text(1), EstablishmentID: r.UUID(2), Status: lifecycle.Status(r.Text(3)), Reason: r.Text(4),
		Comment: r.Text(6), AcceptDeadline: r.Time(9), KitchenSeq: r.Int(10), Hidden: r.Bool(11),
		CreatedAt: r.Time(13), UpdatedAt: r.Time(14), Published: r.Bool(15),
	}
	t.Total.Amount, t.Total.Currency = r.Int(7), r.Text(8)
	if t.Lines, err = decodeLines(r.Blob(5)); err != nil {
		return t, err
	}
	t.Entered, err = decodeEntered(r.Blob(12))
	return t, err
}

// LockTickets implements [establishment.Tx].
func (t sqliteTx) LockTickets(ids []uuid.UUID) (map[uuid.UUID]establishment.Ticket, error) {
	tickets := map[uuid.UUID]establishment.Ticket{}
	for _, id := range ids {
		err := t.Query(selectTicket+`WHERE order_id = ?`, func(r database.Row) (err error) {
			tickets[id], err = scanTicket(r)
			return err
		}, id)
		if err != nil {
			return nil, err
		}
	}
	return tickets, nil
}

// InsertTickets implements [establishment.MergingTx].
func (t sqliteTx) InsertTickets(tickets []establishment.Ticket) (inserted []uuid.UUID, err error) {
	for _, k := range tickets {
		lines, entered, err := encodeDocuments(k)
		if err != nil {
			return nil, err
		}
		err = t.Exec(`INSERT INTO tickets (`+ticketColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			k.OrderID, k.Code, k.EstablishmentID, string(k.Status), k.Reason, lines, k.Comment, k.Total.Amount, k.Total.Currency,
			k.AcceptDeadline, k.KitchenSeq, k.Hidden, entered, k.CreatedAt, k.UpdatedAt)
		if err != nil {
			return nil, err
		}
		if t.Changed() > 0 {
			inserted = append(inserted, k.OrderID)
		}
	}
	return inserted, nil
}

// UpdateTickets implements [establishment.PressingTx].
func (t sqliteTx) UpdateTickets(tickets []establishment.Ticket) error {
	for _, k := range tickets {
		lines, entered, err := encodeDocuments(k)
		if err != nil {
			return err
		}
		err = t.Exec(`UPDATE tickets SET code = ?, establishment_id = ?, status = ?, reason = ?, lines = ?, comment = ?, total = ?,
				currency = ?, accept_deadline = ?, kitchen_seq = ?, hidden = ?, entered = ?, created_at = ?, updated_at = ?
			WHERE order_id = ?`,
			k.Code, k.EstablishmentID, string(k.Status), k.Reason, lines, k.Comment, k.Total.Amount, k.Total.Currency,
			k.AcceptDeadline, k.KitchenSeq, k.Hidden, entered, k.CreatedAt, k.UpdatedAt, k.OrderID)
		if err != nil {
			return err
		}
	}
	return nil
}

// Ticket implements [establishment.Reader].
func (s SQLite) Ticket(ctx context.Context, orderID uuid.UUID) (ticket establishment.Ticket, found bool, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(selectTicket+`WHERE order_id = ? AND NOT hidden`, func(r database.Row) (err error) {
			found = true
			ticket, err = scanTicket(r)
			return err
		}, orderID)
	})
	return ticket, found, err
}

// Tickets implements [establishment.Reader].
func (s SQLite) Tickets(ctx context.Context, f establishment.TicketFilter, after uuid.UUID, limit int) (tickets []establishment.Ticket, err error) {
	where, args := ticketConditions(f, after)
	order := ` ORDER BY order_id DESC LIMIT ?`
	if f.OldestFirst {
		order = ` ORDER BY order_id LIMIT ?`
	}
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(selectTicket+`WHERE `+where+order, func(r database.Row) error {
			ticket, err := scanTicket(r)
			tickets = append(tickets, ticket)
			return err
		}, append(args, limit)...)
	})
	return tickets, err
}

func ticketConditions(f establishment.TicketFilter, after uuid.UUID) (where string, args []any) {
	conditions := []string{"NOT hidden"}
	add := func(set bool, condition string, arg any) {
		if set {
			conditions, args = append(conditions, condition), append(args, arg)
		}
	}
	add(f.EstablishmentID != uuid.Nil, "establishment_id = ?", f.EstablishmentID)
	add(f.Status != "", "status = ?", string(f.Status))
	add(after != uuid.Nil && !f.OldestFirst, "order_id < ?", after)
	add(after != uuid.Nil && f.OldestFirst, "order_id > ?", after)
	return strings.Join(conditions, " AND "), args
}
