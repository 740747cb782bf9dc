package establishmenthttp

import (
	"time"

	"kuhnya/internal/establishment"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// Ticket is a ticket as staff see it.
type Ticket struct {
	OrderID         httpapi.ID       `json:"order_id"`
	Code            string           `json:"code" doc:"To call out." example:"7KQ2M"`
	EstablishmentID httpapi.ID       `json:"establishment_id"`
	Status          lifecycle.Status `json:"status" enum:"placed,accepted,cooking,ready,completed,rejected,cancelled"`
	Reason          string           `json:"reason"`
	Lines           []TicketLine     `json:"lines"`
	Comment         string           `json:"comment"`
	Total           money.Money      `json:"total"`
	AcceptDeadline  time.Time        `json:"accept_deadline"`
	Published       bool             `json:"published" doc:"Whether every step was sent to the kitchen; false: saved here, and pressing again sends it."`
	CreatedAt       time.Time        `json:"created_at"`
	UpdatedAt       time.Time        `json:"updated_at"`
}

// TicketLine is a line of a ticket.
type TicketLine struct {
	DishID    httpapi.ID  `json:"dish_id"`
	Name      string      `json:"name"`
	Quantity  int64       `json:"quantity"`
	UnitPrice money.Money `json:"unit_price"`
	Total     money.Money `json:"total"`
}

func showTicket(t establishment.Ticket) Ticket {
	lines := make([]TicketLine, len(t.Lines))
	for i, l := range t.Lines {
		lines[i] = TicketLine{
			DishID: httpapi.ID(l.DishID), Name: l.Name, Quantity: l.Quantity,
			UnitPrice: money.Money{Amount: l.UnitPrice, Currency: t.Total.Currency},
			Total:     money.Money{Amount: l.Total, Currency: t.Total.Currency},
		}
	}
	return Ticket{
		OrderID: httpapi.ID(t.OrderID), Code: t.Code, EstablishmentID: httpapi.ID(t.EstablishmentID), Status: t.Status,
		Reason: t.Reason, Lines: lines, Comment: t.Comment, Total: t.Total, AcceptDeadline: t.AcceptDeadline,
		Published: t.Published, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}
