package outbox_test

import (
	"errors"
	"testing"

	"kuhnya/outbox"
)

func TestMessageSize(t *testing.T) {
	m := outbox.Message{Key: "12345", Payload: make([]byte, 1000), Headers: []outbox.Header{{Key: "abc", Value: []byte("de")}, {}}}
	const want = 512 + 5 + 1000 + (10 + 5) + 10
	if got := m.Size(); got != want {
		t.Errorf("size %d, want %d", got, want)
	}
	if err := outbox.Check(m, want); err != nil {
		t.Errorf("a message of exactly the limit: %v", err)
	}
	if err := outbox.Check(m, want-1); !errors.Is(err, outbox.ErrTooLarge) {
		t.Errorf("one byte over the limit: %v, want ErrTooLarge", err)
	}
}

func TestMessageHeader(t *testing.T) {
	m := outbox.Message{Headers: []outbox.Header{{Key: "a", Value: []byte("1")}, {Key: "nil"}, {Key: "a", Value: []byte("2")}}}
	for _, c := range []struct {
		name, want string
		ok         bool
	}{{"a", "2", true}, {"nil", "", true}, {"A", "", false}, {"", "", false}} {
		if got, ok := m.Header(c.name); string(got) != c.want || ok != c.ok {
			t.Errorf("header %q: %q, %v; want %q, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
