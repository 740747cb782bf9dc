package kitchen

import (
	"slices"

	"kuhnya/idempotency"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
)

// absorb finds the event in an order's history that a keyed callback repeats; found is false if it says something new.
//
// A known key with the same target is a duplicate, whatever the order's status has become since; with another target
// it is a key used twice. A key that is new here repeats an event too if the order has entered that status before: no
// status is entered twice, so both must mean the same step. The caller counts the delivery and, on an event that has
// no key yet, keeps this one.
func absorb(history []Event, key idempotency.Key, target lifecycle.Status) (repeated int, found bool, err error) {
	if key == "" {
		return 0, false, nil
	}
	if i := slices.IndexFunc(history, func(e Event) bool { return e.Key == key }); i >= 0 {
		if history[i].To != target {
			return 0, false, fault.New(fault.IdempotencyKeyReused, "this key stands for %s of this order", history[i].To)
		}
		return i, true, nil
	}
	i := slices.IndexFunc(history, func(e Event) bool { return e.To == target })
	return max(i, 0), i >= 0, nil
}
