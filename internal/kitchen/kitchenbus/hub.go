package kitchenbus

import (
	"sync"

	"github.com/google/uuid"
)

// Hub wakes those who watch an order when it changed. It carries no change: whoever is woken looks into the database,
// which has all of them in their order. So a watcher that is slow, or a change that is told twice, harms nothing. The
// zero value is ready.
type Hub struct {
	mu       sync.Mutex
	watchers map[uuid.UUID]map[chan struct{}]struct{}
}

// Watch returns a channel that has a value whenever the order changed since the last was received, until stop is called.
func (h *Hub) Watch(orderID uuid.UUID) (changed <-chan struct{}, stop func()) {
	watcher := make(chan struct{}, 1) // one value stands for any number of changes
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = map[uuid.UUID]map[chan struct{}]struct{}{}
	}
	if h.watchers[orderID] == nil {
		h.watchers[orderID] = map[chan struct{}]struct{}{}
	}
	h.watchers[orderID][watcher] = struct{}{}
	return watcher, func() { h.remove(orderID, watcher) }
}

func (h *Hub) remove(orderID uuid.UUID, watcher chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers[orderID], watcher)
	if len(h.watchers[orderID]) == 0 {
		delete(h.watchers, orderID)
	}
}

// Wake wakes those who watch the order. It waits for nobody.
func (h *Hub) Wake(orderID uuid.UUID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for watcher := range h.watchers[orderID] {
		select {
		case watcher <- struct{}{}:
		default: // it has yet to look, and will see this change too
		}
	}
}
