// Package establishmentbus is establishment-service on the message bus: what kitchen tells about orders comes in here,
// and the staff's steps go out.
package establishmentbus

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/internal/broker"
	"kuhnya/internal/establishment"
	"kuhnya/internal/event"
)

// Handler merges records of the topic of orders into tickets, a whole poll in one batch.
func Handler(service *establishment.Service) consume.Handler {
	return func(ctx context.Context, records []*kgo.Record) []error {
		return broker.ApplyAll(records, decode, func(facts []establishment.Fact) []error { return service.Merge(ctx, facts) })
	}
}

func decode(r *kgo.Record) (establishment.Fact, error) {
	envelope := event.Open(broker.Headers(r))
	if err := envelope.Among(event.OrderPlacedType, event.OrderStatusChangedType); err != nil {
		return nil, err
	}
	if envelope.Type == event.OrderPlacedType {
		placed, err := event.Decode[event.OrderPlaced](r.Value)
		return establishment.Placed(placed), err
	}
	changed, err := event.Decode[event.OrderStatusChanged](r.Value)
	return establishment.Changed(changed), err
}
