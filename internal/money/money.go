// Package money is amounts in minor units with checked arithmetic: a sum or product that leaves int64 is reported,
// never wrapped around. It knows no exchange rates and no rounding, since nothing here divides money.
package money

import (
	"errors"
	"math/bits"
)

// RUB is the currency of the demo data, and the default of an establishment.
const RUB = "RUB"

// ErrOverflow says that an amount does not fit into int64.
var ErrOverflow = errors.New("amount exceeds 64 bits")

// Money is an amount in minor units (kopecks, cents) of an ISO 4217 currency.
type Money struct {
	Amount   int64  `json:"amount" minimum:"0" doc:"In minor units: 45000 is 450.00." example:"45000"`
	Currency string `json:"currency" pattern:"^[A-Z]{3}$" doc:"ISO 4217." example:"RUB"`
}

// Multiply returns the non-negative amount times a non-negative factor, or [ErrOverflow].
func Multiply(amount, factor int64) (int64, error) {
	hi, lo := bits.Mul64(uint64(amount), uint64(factor))
	if amount < 0 || factor < 0 || hi != 0 || lo > 1<<63-1 {
		return 0, ErrOverflow
	}
	return int64(lo), nil
}

// Add returns the sum of two non-negative amounts, or [ErrOverflow].
func Add(a, b int64) (int64, error) {
	sum := a + b
	if a < 0 || b < 0 || sum < 0 {
		return 0, ErrOverflow
	}
	return sum, nil
}

// IsCurrency says whether code has the form of an ISO 4217 currency code.
func IsCurrency(code string) bool {
	if len(code) != 3 {
		return false
	}
	for _, c := range []byte(code) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}
