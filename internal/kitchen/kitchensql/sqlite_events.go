package kitchensql

import (
	"context"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/database"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
)

// EventsOf implements [kitchen.ChangingTx].
func (t sqliteTx) EventsOf(ids []uuid.UUID) (map[uuid.UUID][]kitchen.Event, error) {
	histories := map[uuid.UUID][]kitchen.Event{}
	for _, id := range ids {
		history, err := eventsOf(t.Conn, id)
		if err != nil {
			return nil, err
		}
		histories[id] = history
	}
	return histories, nil
}

func eventsOf(c *database.Conn, orderID uuid.UUID) (events []kitchen.Event, err error) {
	err = c.Query(`SELECT seq, from_status, to_status, actor, reason, coalesce(idempotency_key, ''), deliveries, at, last_delivery_at
			FROM order_status_events WHERE order_id = ? ORDER BY seq`,
		func(r database.Row) error {
			events = append(events, kitchen.Event{
				OrderID: orderID, Seq: r.Int(0), From: lifecycle.Status(r.Text(1)), To: lifecycle.Status(r.Text(2)),
				Actor: r.Text(3), Reason: r.Text(4), Key: idempotency.Key(r.Text(5)), Deliveries: r.Int(6),
				At: r.Time(7), LastDeliveryAt: r.Time(8),
			})
			return nil
		}, orderID)
	return events, err
}

// InsertEvents implements [kitchen.PlacingTx].
func (t sqliteTx) InsertEvents(events []kitchen.Event) error {
	for _, e := range events {
		err := t.Exec(`INSERT INTO order_status_events (order_id, seq, from_status, to_status, actor, reason, idempotency_key,
				deliveries, at, last_delivery_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.OrderID, e.Seq, string(e.From), string(e.To), e.Actor, e.Reason, keyOrNull(e.Key), e.Deliveries, e.At, e.LastDeliveryAt)
		if err != nil {
			return err
		}
	}
	return nil
}

// UpdateDeliveries implements [kitchen.ChangingTx].
func (t sqliteTx) UpdateDeliveries(events []kitchen.Event) error {
	for _, e := range events {
		err := t.Exec(`UPDATE order_status_events SET idempotency_key = ?, deliveries = ?, last_delivery_at = ? WHERE order_id = ? AND seq = ?`,
			keyOrNull(e.Key), e.Deliveries, e.LastDeliveryAt, e.OrderID, e.Seq)
		if err != nil {
			return err
		}
	}
	return nil
}

func keyOrNull(key idempotency.Key) any {
	if key == "" {
		return nil
	}
	return string(key)
}

// Events implements [kitchen.Reader].
func (s SQLite) Events(ctx context.Context, orderID uuid.UUID) (events []kitchen.Event, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) (err error) {
		events, err = eventsOf(c, orderID)
		return err
	})
	return events, err
}
