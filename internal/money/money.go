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

// exponents are the currencies of ISO 4217 whose minor unit is not a hundredth (list one, 2024-06-25).
var exponents = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0, "UYI": 0,
	"VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// Exponent is how many decimals a currency has, which is the logarithm of its minor units in a whole one; 2 for what
// ISO 4217 doesn't list otherwise.
func Exponent(currency string) int {
	if exponent, listed := exponents[currency]; listed {
		return exponent
	}
	return 2
}
