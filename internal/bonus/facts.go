package bonus

import (
	"github.com/google/uuid"

	"kuhnya/internal/event"
	"kuhnya/outbox"
)

func (s *Service) accruedMessage(a Accrual, factID uuid.UUID, traceparent string) (outbox.Message, error) {
	return event.Fact{
		ID: factID, Type: event.BonusAccruedType, Source: "bonus", Topic: s.topics.Bonuses(), OrderID: a.OrderID,
		TraceParent: traceparent, At: a.CreatedAt,
		Data: event.BonusAccrued{
			AccrualID: a.ID, UserID: a.UserID, CampaignID: a.CampaignID, OrderID: a.OrderID, Points: a.Points,
			Origin: string(a.Origin), At: a.CreatedAt,
		},
	}.Message()
}
