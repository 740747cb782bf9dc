package establishmentbus

import (
	"context"

	"kuhnya/internal/broker"
	"kuhnya/internal/establishment"
	"kuhnya/outbox"
)

// Publisher sends steps straight to the broker, for a person who waits for the answer.
type Publisher struct{ Sender *broker.Sender }

var _ establishment.Publisher = Publisher{}

// Publish implements [establishment.Publisher].
func (p Publisher) Publish(ctx context.Context, m outbox.Message) error { return p.Sender.Send(ctx, m) }
