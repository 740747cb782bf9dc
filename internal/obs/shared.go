package obs

import (
	"context"
	"sync"
)

// Shared is one answer for all who ask while it is being looked for. The zero value is ready.
type Shared[T any] struct {
	mu      sync.Mutex
	current *inquiry[T] // nil: nobody asks
}

type inquiry[T any] struct {
	done   chan struct{}
	answer T
	err    error
}

// Ask returns what find returns, or the error of ctx if that ends first. While find runs, others who ask wait for its
// answer and their find is not called; so a find that hangs, hangs once.
func (s *Shared[T]) Ask(ctx context.Context, find func() (T, error)) (T, error) {
	i := s.join(find)
	select {
	case <-i.done:
		return i.answer, i.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (s *Shared[T]) join(find func() (T, error)) *inquiry[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		i := &inquiry[T]{done: make(chan struct{})}
		s.current = i
		go func() {
			i.answer, i.err = find()
			s.leave()
			close(i.done)
		}()
	}
	return s.current
}

func (s *Shared[T]) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = nil
}
