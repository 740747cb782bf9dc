package consume

import (
	"sync/atomic"
	"time"
)

// membership is whether the consumer has its place in the group: assigned what is its share, be that nothing.
type membership struct {
	away atomic.Int64 // since when it has none, in Unix nanoseconds; 0 if it has one
}

func (m *membership) won() { m.away.Store(0) }

// lost keeps the first moment: a member that fails to join again is away since before.
func (m *membership) lost() { m.away.CompareAndSwap(0, time.Now().UnixNano()) }

// AwaySince is since when the consumer has no place in its group, and so reads nothing: from [Consumer.Run] or from the
// begin of a rebalance on, until it has joined. It is zero while the consumer has a place. It asks nobody.
func (c *Consumer) AwaySince() time.Time {
	if away := c.membership.away.Load(); away != 0 {
		return time.Unix(0, away)
	}
	return time.Time{}
}
