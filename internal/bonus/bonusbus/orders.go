// Package bonusbus is bonus-service on the message bus: what kitchen tells about orders comes in here, of which only
// completed orders matter. What goes out leaves through the outbox.
package bonusbus

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/internal/bonus"
	"kuhnya/internal/broker"
	"kuhnya/internal/event"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/trace"
)

// Handler evaluates the completed orders among records of the topic of orders, a whole poll in one batch.
func Handler(service *bonus.Service) consume.Handler {
	return func(ctx context.Context, records []*kgo.Record) []error {
		return broker.ApplyAll(records, decode, func(orders []bonus.Completed) []error { return service.Evaluate(ctx, orders) })
	}
}

// decode reads a completed order. A new order is of no concern, so its value is not even looked at.
func decode(r *kgo.Record) (bonus.Completed, error) {
	envelope := event.Open(broker.Headers(r))
	if err := envelope.Among(event.OrderPlacedType, event.OrderStatusChangedType); err != nil {
		return bonus.Completed{}, err
	}
	if envelope.Type == event.OrderPlacedType {
		return bonus.Completed{}, broker.ErrNoConcern
	}
	changed, err := event.Decode[event.OrderStatusChanged](r.Value)
	if err == nil && changed.To != lifecycle.Completed {
		err = broker.ErrNoConcern
	}
	if err != nil {
		return bonus.Completed{}, err
	}
	return bonus.Completed{
		OrderID: changed.OrderID, UserID: changed.UserID, EstablishmentID: changed.EstablishmentID, Total: changed.Total,
		PlacedAt: changed.PlacedAt, Trace: trace.Child(envelope.TraceParent),
	}, nil
}
