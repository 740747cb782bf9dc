package event

import (
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// OrderStatusChangedType tells that an order entered a status after placed, on the topic of orders.
const OrderStatusChangedType Type = "order.status_changed.v1"

// OrderStatusChanged is one change of an order. Seq grows by one with each change of that order; a reader applies a
// change only above the highest seq that it has applied.
type OrderStatusChanged struct {
	OrderID         uuid.UUID        `json:"order_id"`
	EstablishmentID uuid.UUID        `json:"establishment_id"`
	UserID          string           `json:"user_id"`
	Seq             int64            `json:"seq"`
	From            lifecycle.Status `json:"from"`
	To              lifecycle.Status `json:"to"`
	Reason          string           `json:"reason,omitempty"`
	Total           money.Money      `json:"total"`
	PlacedAt        time.Time        `json:"placed_at"`
	At              time.Time        `json:"at"`
}
