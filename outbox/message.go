package outbox

import (
	"errors"
	"fmt"
)

// ErrTooLarge says that a message is refused before it is appended, because no broker of this deployment would take it.
var ErrTooLarge = errors.New("message too large for the broker")

// What a message costs beyond its own bytes, counted generously: a broker measures the whole record batch, with the
// batch's own header and the lengths before each field.
const (
	recordOverhead = 512
	headerOverhead = 10
)

// Size is the number of bytes that m takes at most in a record batch of its own, before compression.
func (m Message) Size() int {
	size := recordOverhead + len(m.Key) + len(m.Payload)
	for _, h := range m.Headers {
		size += headerOverhead + len(h.Key) + len(h.Value)
	}
	return size
}

// Check reports an error that wraps [ErrTooLarge] if m is larger than limit bytes. The business transaction calls it
// before it appends: there the caller can still be told, while a row that is too large can only be parked.
func Check(m Message, limit int) error {
	if size := m.Size(); size > limit {
		return fmt.Errorf("message %s for %s: %d bytes, limit %d: %w", m.EventID, m.Topic, size, limit, ErrTooLarge)
	}
	return nil
}

// Header is the value of the header called name, and whether there is one. Of several with that name the last counts,
// as for Kafka's own clients.
func (m Message) Header(name string) ([]byte, bool) {
	for i := len(m.Headers) - 1; i >= 0; i-- {
		if m.Headers[i].Key == name {
			return m.Headers[i].Value, true
		}
	}
	return nil, false
}
