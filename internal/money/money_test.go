package money

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestMultiply_and_Add_agree_with_big_integers(t *testing.T) {
	limit := big.NewInt(math.MaxInt64)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(0, math.MaxInt64).Draw(t, "a")
		b := rapid.Int64Range(0, math.MaxInt64).Draw(t, "b")
		if rapid.Bool().Draw(t, "small") {
			b %= 101
		}
		agree(t, "product", new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), limit, func() (int64, error) { return Multiply(a, b) })
		agree(t, "sum", new(big.Int).Add(big.NewInt(a), big.NewInt(b)), limit, func() (int64, error) { return Add(a, b) })
	})
}

func agree(t *rapid.T, what string, want, limit *big.Int, compute func() (int64, error)) {
	got, err := compute()
	if want.Cmp(limit) > 0 {
		if !errors.Is(err, ErrOverflow) {
			t.Fatalf("%s: got %d, %v, want overflow", what, got, err)
		}
		return
	}
	if err != nil || got != want.Int64() {
		t.Fatalf("%s: got %d, %v, want %s", what, got, err, want)
	}
}

func TestExponent_is_that_of_ISO_4217(t *testing.T) {
	for currency, want := range map[string]int{
		"RUB": 2, "USD": 2, "EUR": 2, "MGA": 2, "MRU": 2, "JPY": 0, "KRW": 0, "XOF": 0, "KWD": 3, "TND": 3, "CLF": 4, "UYW": 4, "XYZ": 2,
	} {
		if got := Exponent(currency); got != want {
			t.Errorf("%s has %d decimals, want %d", currency, got, want)
		}
	}
}
