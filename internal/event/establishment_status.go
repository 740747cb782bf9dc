package event

import (
	"github.com/google/uuid"

	"kuhnya/internal/lifecycle"
)

// EstablishmentStatusType is a step of the staff, on the topic of establishment statuses. A record there needs no
// envelope: key and data alone are understood as this type.
const EstablishmentStatusType Type = "establishment.status.v1"

// EstablishmentStatus says that an establishment carried its order to a status.
type EstablishmentStatus struct {
	OrderID         uuid.UUID        `json:"order_id"`
	EstablishmentID uuid.UUID        `json:"establishment_id"`
	Status          lifecycle.Status `json:"status"`
	Reason          string           `json:"reason,omitempty"`
}

// CallbackKey is the deterministic idempotency key of a status callback: the same step is the same key on every try,
// whoever makes it.
func CallbackKey(orderID uuid.UUID, status lifecycle.Status) string {
	return orderID.String() + ":" + string(status)
}
