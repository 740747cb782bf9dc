// Package kitchenbus is kitchen-service on the message bus: the callbacks of establishments come in here, the accept
// time-out learns here what is still on its way, and event streams learn here that an order changed, in whatever
// process. What goes out leaves through the outbox.
package kitchenbus

import (
	"context"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/idempotency"
	"kuhnya/internal/broker"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/trace"
)

// Handler applies records of the topic of establishment statuses, a whole poll in one batch.
func Handler(service *kitchen.Service) consume.Handler {
	return func(ctx context.Context, records []*kgo.Record) []error {
		return broker.ApplyAll(records, decode, func(changes []kitchen.Change) []error { return service.ChangeAll(ctx, changes) })
	}
}

// decode reads one callback. A record made by hand needs no envelope; without a key of its own it gets the key that
// its establishment would have given it.
func decode(r *kgo.Record) (kitchen.Change, error) {
	envelope := event.Open(broker.Headers(r))
	if envelope.Type != "" {
		if err := envelope.Among(event.EstablishmentStatusType); err != nil {
			return kitchen.Change{}, err
		}
	}
	status, err := event.Decode[event.EstablishmentStatus](r.Value)
	if err != nil {
		return kitchen.Change{}, err
	}
	if status.EstablishmentID == uuid.Nil {
		return kitchen.Change{}, fault.Invalid("/establishment_id", "is missing")
	}
	key := idempotency.Key(event.CallbackKey(status.OrderID, status.Status))
	if envelope.IdempotencyKey != "" {
		if key, _, err = idempotency.ParseHeader([]string{envelope.IdempotencyKey}); err != nil {
			return kitchen.Change{}, fault.New(fault.IdempotencyKeyInvalid, "the idempotency-key header is not a key").Because(err)
		}
	}
	return kitchen.Change{
		OrderID: status.OrderID, EstablishmentID: status.EstablishmentID, To: status.Status, Reason: status.Reason,
		Party: lifecycle.Staff, Actor: "staff:" + status.EstablishmentID.String(), Key: key, Trace: trace.Child(envelope.TraceParent),
	}, nil
}
