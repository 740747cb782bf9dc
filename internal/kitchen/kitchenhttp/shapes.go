package kitchenhttp

import (
	"time"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// Establishment is an establishment as clients see it.
type Establishment struct {
	ID                   httpapi.ID    `json:"id"`
	Name                 string        `json:"name"`
	State                kitchen.State `json:"state" enum:"open,busy,closed"`
	Accepting            bool          `json:"accepting" doc:"Whether orders are taken; a busy establishment takes them and is slow."`
	MinOrder             money.Money   `json:"min_order"`
	AcceptTimeoutSeconds int64         `json:"accept_timeout_seconds" doc:"An order is rejected this long after it was placed unless it was accepted."`
	Timezone             string        `json:"timezone" doc:"IANA name."`
	Currency             string        `json:"currency" doc:"ISO 4217."`
}

func showEstablishment(e kitchen.Establishment) Establishment {
	return Establishment{
		ID: httpapi.ID(e.ID), Name: e.Name, State: e.State, Accepting: e.Accepting(),
		MinOrder:             money.Money{Amount: e.MinOrder, Currency: e.Currency},
		AcceptTimeoutSeconds: int64(e.AcceptTimeout / time.Second), Timezone: e.Timezone, Currency: e.Currency,
	}
}

// Dish is a dish as clients see it.
type Dish struct {
	ID              httpapi.ID  `json:"id"`
	EstablishmentID httpapi.ID  `json:"establishment_id"`
	ExternalID      string      `json:"external_id" doc:"The establishment's own name for the dish."`
	Name            string      `json:"name"`
	Description     string      `json:"description"`
	Price           money.Money `json:"price"`
	Stock           *int64      `json:"stock" nullable:"true" doc:"Portions left; null: not counted."`
	Available       bool        `json:"available"`
}

func showDish(d kitchen.Dish, currency string) Dish {
	return Dish{
		ID: httpapi.ID(d.ID), EstablishmentID: httpapi.ID(d.EstablishmentID), ExternalID: d.ExternalID, Name: d.Name,
		Description: d.Description, Price: money.Money{Amount: d.Price, Currency: currency}, Stock: d.OnHand(), Available: d.Orderable(),
	}
}

// Order is an order as clients see it.
type Order struct {
	ID              httpapi.ID       `json:"id"`
	Code            string           `json:"code" doc:"To call out: the last five characters of the id in Crockford base 32." example:"7KQ2M"`
	UserID          string           `json:"user_id"`
	EstablishmentID httpapi.ID       `json:"establishment_id"`
	Status          lifecycle.Status `json:"status" enum:"placed,accepted,cooking,ready,completed,rejected,cancelled"`
	Reason          string           `json:"reason" doc:"Why it was rejected or cancelled."`
	Lines           []Line           `json:"lines"`
	Total           money.Money      `json:"total"`
	Comment         string           `json:"comment"`
	Seq             int64            `json:"seq" doc:"Number of its newest event; placed is 1."`
	AcceptDeadline  time.Time        `json:"accept_deadline"`
	CreatedAt       time.Time        `json:"created_at"`
	UpdatedAt       time.Time        `json:"updated_at"`
}

// Line is a line of an order.
type Line struct {
	DishID    httpapi.ID  `json:"dish_id"`
	Name      string      `json:"name"`
	Quantity  int64       `json:"quantity"`
	UnitPrice money.Money `json:"unit_price"`
	Total     money.Money `json:"total"`
}

func showOrder(o kitchen.Order) Order {
	lines := make([]Line, len(o.Lines))
	for i, l := range o.Lines {
		lines[i] = Line{
			DishID: httpapi.ID(l.DishID), Name: l.Name, Quantity: l.Quantity,
			UnitPrice: money.Money{Amount: l.UnitPrice, Currency: o.Total.Currency},
			Total:     money.Money{Amount: l.Total, Currency: o.Total.Currency},
		}
	}
	return Order{
		ID: httpapi.ID(o.ID), Code: kitchen.Code(o.ID), UserID: o.UserID, EstablishmentID: httpapi.ID(o.EstablishmentID),
		Status: o.Status, Reason: o.Reason, Lines: lines, Total: o.Total, Comment: o.Comment, Seq: o.Seq,
		AcceptDeadline: o.AcceptDeadline, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
}

// Event is an entry of an order's history.
type Event struct {
	Seq            int64             `json:"seq"`
	From           *lifecycle.Status `json:"from" nullable:"true" doc:"The status that it left; null for placed."`
	To             lifecycle.Status  `json:"to" enum:"placed,accepted,cooking,ready,completed,rejected,cancelled"`
	Actor          string            `json:"actor" example:"customer:alice"`
	Reason         string            `json:"reason"`
	IdempotencyKey *string           `json:"idempotency_key" nullable:"true" doc:"Of the callback; null if it came without one."`
	Deliveries     int64             `json:"deliveries" doc:"1 + absorbed duplicates."`
	At             time.Time         `json:"at"`
	LastDeliveryAt time.Time         `json:"last_delivery_at"`
}

func showEvent(e kitchen.Event) Event {
	shown := Event{
		Seq: e.Seq, To: e.To, Actor: e.Actor, Reason: e.Reason, Deliveries: e.Deliveries, At: e.At, LastDeliveryAt: e.LastDeliveryAt,
	}
	if e.From != "" {
		shown.From = &e.From
	}
	if e.Key != "" {
		shown.IdempotencyKey = new(string(e.Key))
	}
	return shown
}
