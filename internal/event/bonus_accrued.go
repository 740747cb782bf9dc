package event

import (
	"time"

	"github.com/google/uuid"
)

// BonusAccruedType tells that a user got points, on the topic of bonuses.
const BonusAccruedType Type = "bonus.accrued.v1"

// BonusAccrued is one accrual. Origin is "event" for a completed order, "api" for a request of a client.
type BonusAccrued struct {
	AccrualID  uuid.UUID `json:"accrual_id"`
	UserID     string    `json:"user_id"`
	CampaignID uuid.UUID `json:"campaign_id"`
	OrderID    uuid.UUID `json:"order_id"`
	Points     int64     `json:"points"`
	Origin     string    `json:"origin"`
	At         time.Time `json:"at"`
}
