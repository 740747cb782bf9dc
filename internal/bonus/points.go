package bonus

import (
	"math/bits"

	"kuhnya/internal/money"
)

// basisPoints is a whole in the unit of [Percent].
const basisPoints = 10_000

// points is what an order of that total earns under the terms, 0 if nothing. The total is not negative.
func (t Terms) points(total money.Money) int64 {
	points := t.Value
	if t.Kind == Percent {
		points = share(total, t.Value)
	}
	if t.CapPerOrder > 0 {
		points = min(points, t.CapPerOrder)
	}
	return points
}

// share is a part of an amount in whole units of its currency, rounded down once: the product of amount and part has
// up to 128 bits, and so does what it is divided by fit into 64. It is at most the amount, since a part is at most a
// whole.
func share(total money.Money, part int64) int64 {
	unit := uint64(basisPoints)
	for range money.Exponent(total.Currency) {
		unit *= 10
	}
	hi, lo := bits.Mul64(uint64(total.Amount), uint64(part))
	whole, _ := bits.Div64(hi, lo, unit)
	return int64(whole)
}
