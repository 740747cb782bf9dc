package kitchen

import (
	"kuhnya/internal/event"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/outbox"
)

// orderPlacedMessages tells of orders, each beside the command that it came of.
func (s *Service) orderPlacedMessages(orders []Order, placed []placing) ([]outbox.Message, error) {
	messages := make([]outbox.Message, len(orders))
	for i, o := range orders {
		message, err := event.Fact{
			ID: placed[i].factID, Type: event.OrderPlacedType, Source: "kitchen", Topic: s.topics.Orders(), OrderID: o.ID, At: o.CreatedAt,
			TraceParent: placed[i].Trace,
			Data: event.OrderPlaced{
				OrderID: o.ID, Code: Code(o.ID), UserID: o.UserID, EstablishmentID: o.EstablishmentID, Seq: o.Seq,
				Status: o.Status, Lines: factLines(o), Total: o.Total, Comment: o.Comment,
				AcceptDeadline: o.AcceptDeadline, PlacedAt: o.CreatedAt,
			},
		}.Message()
		if err != nil {
			return nil, err
		}
		messages[i] = message
	}
	return messages, nil
}

func factLines(o Order) []event.OrderLine {
	lines := make([]event.OrderLine, len(o.Lines))
	for i, l := range o.Lines {
		lines[i] = event.OrderLine{
			DishID: l.DishID, Name: l.Name, Quantity: l.Quantity,
			UnitPrice: money.Money{Amount: l.UnitPrice, Currency: o.Total.Currency},
			Total:     money.Money{Amount: l.Total, Currency: o.Total.Currency},
		}
	}
	return lines
}

// statusChangedMessage tells of an order as a change left it.
func (s *Service) statusChangedMessage(o Order, from lifecycle.Status, c changing) (outbox.Message, error) {
	return event.Fact{
		ID: c.factID, Type: event.OrderStatusChangedType, Source: "kitchen", Topic: s.topics.Orders(), OrderID: o.ID, At: o.UpdatedAt,
		TraceParent: c.Trace,
		Data: event.OrderStatusChanged{
			OrderID: o.ID, EstablishmentID: o.EstablishmentID, UserID: o.UserID, Seq: o.Seq, From: from, To: o.Status,
			Reason: o.Reason, Total: o.Total, PlacedAt: o.CreatedAt, At: o.UpdatedAt,
		},
	}.Message()
}
