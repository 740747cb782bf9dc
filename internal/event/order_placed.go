package event

import (
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// OrderPlacedType tells of a new order, on the topic of orders.
const OrderPlacedType Type = "order.placed.v1"

// OrderPlaced is the whole order as it was placed. Seq is always 1.
type OrderPlaced struct {
	OrderID         uuid.UUID        `json:"order_id"`
	Code            string           `json:"code"`
	UserID          string           `json:"user_id"`
	EstablishmentID uuid.UUID        `json:"establishment_id"`
	Seq             int64            `json:"seq"`
	Status          lifecycle.Status `json:"status"`
	Lines           []OrderLine      `json:"lines"`
	Total           money.Money      `json:"total"`
	Comment         string           `json:"comment"`
	AcceptDeadline  time.Time        `json:"accept_deadline"`
	PlacedAt        time.Time        `json:"placed_at"`
}

// OrderLine is one dish of an order, with the name and price that it had when the order was placed.
type OrderLine struct {
	DishID    uuid.UUID   `json:"dish_id"`
	Name      string      `json:"name"`
	Quantity  int64       `json:"quantity"`
	UnitPrice money.Money `json:"unit_price"`
	Total     money.Money `json:"total"`
}
