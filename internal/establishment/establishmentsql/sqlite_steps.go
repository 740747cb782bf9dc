package establishmentsql

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/database"
	"kuhnya/internal/establishment"
	"kuhnya/internal/lifecycle"
)

const selectStep = `SELECT s.order_id, t.establishment_id, s.no, s.status, s.reason, s.key, s.event_id, s.created_at, s.sent_at,
		s.traceparent
	FROM ticket_steps s JOIN tickets t ON t.order_id = s.order_id `

func scanStep(r database.Row) establishment.Step {
	step := establishment.Step{
		OrderID: r.UUID(0), EstablishmentID: r.UUID(1), No: r.Int(2), Status: lifecycle.Status(r.Text(3)), Reason: r.Text(4),
		Key: idempotency.Key(r.Text(5)), EventID: r.UUID(6), CreatedAt: r.Time(7), Trace: r.Text(9),
	}
	if !r.Null(8) {
		step.SentAt = new(r.Time(8))
	}
	return step
}

// StepsOf implements [establishment.PressingTx].
func (t sqliteTx) StepsOf(orderIDs []uuid.UUID) (map[uuid.UUID][]establishment.Step, error) {
	steps := map[uuid.UUID][]establishment.Step{}
	for _, id := range orderIDs {
		err := t.Query(selectStep+`WHERE s.order_id = ? ORDER BY s.no`, func(r database.Row) error {
			steps[id] = append(steps[id], scanStep(r))
			return nil
		}, id)
		if err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// InsertSteps implements [establishment.PressingTx].
func (t sqliteTx) InsertSteps(steps []establishment.Step) error {
	for _, s := range steps {
		err := t.Exec(`INSERT INTO ticket_steps (order_id, no, status, reason, key, event_id, created_at, sent_at, traceparent)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			s.OrderID, s.No, string(s.Status), s.Reason, string(s.Key), s.EventID, s.CreatedAt, s.SentAt, s.Trace)
		if err != nil {
			return err
		}
	}
	return nil
}

// DropUnsentSteps implements [establishment.MergingTx].
func (t sqliteTx) DropUnsentSteps(orderIDs []uuid.UUID) error {
	for _, id := range orderIDs {
		if err := t.Exec(`DELETE FROM ticket_steps WHERE order_id = ? AND sent_at IS NULL`, id); err != nil {
			return err
		}
	}
	return nil
}

// MarkSent implements [establishment.Tx].
func (t sqliteTx) MarkSent(eventIDs []uuid.UUID, at time.Time) error {
	for _, id := range eventIDs {
		if err := t.Exec(`UPDATE ticket_steps SET sent_at = ? WHERE event_id = ? AND sent_at IS NULL`, at, id); err != nil {
			return err
		}
	}
	return nil
}

// StepsToSend implements [establishment.Reader].
func (s SQLite) StepsToSend(ctx context.Context, orderID uuid.UUID) (steps []establishment.Step, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(selectStep+`WHERE s.order_id = ? AND s.sent_at IS NULL ORDER BY s.no`, func(r database.Row) error {
			steps = append(steps, scanStep(r))
			return nil
		}, orderID)
	})
	return steps, err
}

// Unsent implements [establishment.Reader].
func (s SQLite) Unsent(ctx context.Context, age time.Duration, limit int) (orderIDs []uuid.UUID, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		now, err := c.Now()
		if err != nil {
			return err
		}
		return c.Query(`SELECT order_id FROM ticket_steps WHERE sent_at IS NULL AND created_at <= ?
				GROUP BY order_id ORDER BY min(created_at), order_id LIMIT ?`,
			func(r database.Row) error {
				orderIDs = append(orderIDs, r.UUID(0))
				return nil
			}, now.Add(-age), limit)
	})
	return orderIDs, err
}

// Backlog implements [establishment.Reader].
func (s SQLite) Backlog(ctx context.Context) (backlog establishment.Backlog, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		now, err := c.Now()
		if err != nil {
			return err
		}
		return c.Query(`SELECT count(*), min(created_at) FROM ticket_steps WHERE sent_at IS NULL`, func(r database.Row) error {
			backlog.Steps = r.Int(0)
			if !r.Null(1) {
				backlog.OldestAge = now.Sub(r.Time(1))
			}
			return nil
		})
	})
	return backlog, err
}
