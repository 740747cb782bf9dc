package idempotency

import (
	"context"
	"sync"
)

// Claims are the keys that this process is busy with. K is the whole scope of a key, such as a struct of caller,
// operation and [Key]. They let a duplicate wait, or be told that the first is under way, before it costs a transaction;
// they never decide what is executed. The zero value is ready, and nothing remains of a key that was released.
type Claims[K comparable] struct {
	mu   sync.Mutex
	held map[K]chan struct{} // closed on release
}

// Acquire claims k, or reports false if somebody holds it. Calling release again does nothing, even if k has another
// holder by then.
func (c *Claims[K]) Acquire(k K) (release func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.held[k]; taken {
		return nil, false
	}
	if c.held == nil {
		c.held = make(map[K]chan struct{})
	}
	released := make(chan struct{})
	c.held[k] = released
	return func() { c.release(k, released) }, true
}

func (c *Claims[K]) release(k K, released chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[k] == released {
		delete(c.held, k)
		close(released)
	}
}

// Wait blocks until the present holder of k releases it, or returns false when ctx ends first. With no holder it returns
// true at once. It claims nothing: of those who waited, the first to call Acquire goes on and the others wait again.
func (c *Claims[K]) Wait(ctx context.Context, k K) bool {
	c.mu.Lock()
	released, taken := c.held[k]
	c.mu.Unlock()
	if !taken {
		return true
	}
	select {
	case <-released:
		return true
	case <-ctx.Done():
		return false
	}
}

// Len returns the number of keys held.
func (c *Claims[K]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held)
}
