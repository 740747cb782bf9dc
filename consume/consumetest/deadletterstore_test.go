package consumetest_test

import (
	"testing"

	"kuhnya/consume/consumetest"
)

func TestMemory(t *testing.T) {
	consumetest.DeadLetterStore(t, func(*testing.T) consumetest.Store { return new(consumetest.Memory) })
}
