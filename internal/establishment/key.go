package establishment

import (
	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/event"
	"kuhnya/internal/lifecycle"
)

// callbackKey is the key under which kitchen counts a step once. It is computed from what the step means, never drawn:
// a second press, the sweep and another process must all arrive at the key of the first try, even where that try's
// answer, or the row that would have remembered a drawn key, was lost. No status is entered twice, so one key never
// stands for two steps.
func callbackKey(orderID uuid.UUID, status lifecycle.Status) idempotency.Key {
	return idempotency.Key(event.CallbackKey(orderID, status))
}
