package kitchenbus

import (
	"context"

	"kuhnya/internal/broker"
	"kuhnya/internal/event"
	"kuhnya/internal/kitchen"
)

// CallbackLog is the topic of establishment statuses as the accept time-out sees it.
type CallbackLog struct {
	Admin  *broker.Admin
	Topics event.Topics
}

var _ kitchen.Callbacks = CallbackLog{}

// Ends implements [kitchen.Callbacks].
func (l CallbackLog) Ends(ctx context.Context) (kitchen.Offsets, error) {
	return l.Admin.Ends(ctx, l.Topics.EstablishmentStatuses())
}

// Committed implements [kitchen.Callbacks].
func (l CallbackLog) Committed(ctx context.Context) (kitchen.Offsets, error) {
	return l.Admin.Committed(ctx, event.GroupKitchen, l.Topics.EstablishmentStatuses())
}
