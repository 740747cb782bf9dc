package outboxtest_test

import (
	"testing"

	"kuhnya/outbox/outboxtest"
)

func TestMemory(t *testing.T) {
	outboxtest.Run(t, func(*testing.T) outboxtest.Fixture {
		m := outboxtest.NewMemory()
		return outboxtest.Fixture{Store: m, Append: m.Append, Begin: m.Begin, Parked: m.Parked}
	})
}
