package establishment

import (
	"kuhnya/internal/event"
	"kuhnya/outbox"
)

// callbackMessage is a step in the form in which kitchen hears of it.
func (s *Service) callbackMessage(step Step) (outbox.Message, error) {
	return event.Fact{
		ID: step.EventID, Type: event.EstablishmentStatusType, Source: "establishment",
		Topic: s.topics.EstablishmentStatuses(), OrderID: step.OrderID, IdempotencyKey: string(step.Key), At: step.CreatedAt,
		TraceParent: step.Trace,
		Data: event.EstablishmentStatus{
			OrderID: step.OrderID, EstablishmentID: step.EstablishmentID, Status: step.Status, Reason: step.Reason,
		},
	}.Message()
}
