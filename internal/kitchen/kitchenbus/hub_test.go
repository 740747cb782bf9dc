package kitchenbus

import (
	"testing"

	"github.com/google/uuid"
)

func woken(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

func TestHub_wakes_everyone_who_watches_the_order_and_nobody_else(t *testing.T) {
	var h Hub
	soup, tea := uuid.New(), uuid.New()
	first, _ := h.Watch(soup)
	second, _ := h.Watch(soup)
	other, _ := h.Watch(tea)
	h.Wake(soup)
	h.Wake(uuid.New())
	if !woken(first) || !woken(second) || woken(other) {
		t.Error("not exactly those who watch were woken")
	}
}

// A watcher that is busy sending is not waited for, and knows afterwards that there is more.
func TestHub_keeps_one_value_for_a_watcher_that_is_slow(t *testing.T) {
	var h Hub
	id := uuid.New()
	changed, _ := h.Watch(id)
	for range 3 {
		h.Wake(id)
	}
	if !woken(changed) || woken(changed) {
		t.Error("three changes are not one value")
	}
}

func TestHub_forgets_who_stops(t *testing.T) {
	var h Hub
	id := uuid.New()
	gone, stop := h.Watch(id)
	stays, stopToo := h.Watch(id)
	stop()
	h.Wake(id)
	if woken(gone) || !woken(stays) {
		t.Error("stopping hit the wrong watcher")
	}
	stopToo()
	if len(h.watchers) != 0 {
		t.Errorf("%d orders are watched by nobody", len(h.watchers))
	}
}
