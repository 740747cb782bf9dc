package bonus

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"kuhnya/internal/money"
)

func TestPoints(t *testing.T) {
	for name, c := range map[string]struct {
		terms Terms
		total money.Money
		want  int64
	}{
		"5 % of 450.00":                      {Terms{Kind: Percent, Value: 500}, money.Money{Amount: 450_00, Currency: "RUB"}, 22},
		"5 % of 19.99":                       {Terms{Kind: Percent, Value: 500}, money.Money{Amount: 19_99, Currency: "RUB"}, 0},
		"5 % of 20.00":                       {Terms{Kind: Percent, Value: 500}, money.Money{Amount: 20_00, Currency: "RUB"}, 1},
		"more than a double holds":           {Terms{Kind: Percent, Value: 500}, money.Money{Amount: 9_007_199_254_740_993, Currency: "RUB"}, 4_503_599_627_370},
		"all of the most there is":           {Terms{Kind: Percent, Value: 10_000}, money.Money{Amount: math.MaxInt64, Currency: "JPY"}, math.MaxInt64},
		"all of it, one unit short of whole": {Terms{Kind: Percent, Value: 10_000}, money.Money{Amount: 99, Currency: "USD"}, 0},
		"no decimals":                        {Terms{Kind: Percent, Value: 500}, money.Money{Amount: 450, Currency: "JPY"}, 22},
		"three decimals":                     {Terms{Kind: Percent, Value: 500}, money.Money{Amount: 450_000, Currency: "KWD"}, 22},
		"four decimals":                      {Terms{Kind: Percent, Value: 500}, money.Money{Amount: 450_0000, Currency: "CLF"}, 22},
		"capped":                             {Terms{Kind: Percent, Value: 500, CapPerOrder: 21}, money.Money{Amount: 450_00, Currency: "RUB"}, 21},
		"below the cap":                      {Terms{Kind: Percent, Value: 500, CapPerOrder: 22}, money.Money{Amount: 450_00, Currency: "RUB"}, 22},
		"fixed":                              {Terms{Kind: Fixed, Value: 50}, money.Money{Currency: "RUB"}, 50},
		"fixed and capped":                   {Terms{Kind: Fixed, Value: 50, CapPerOrder: 7}, money.Money{Amount: 1, Currency: "RUB"}, 7},
	} {
		if got := c.terms.points(c.total); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestPoints_agree_with_big_integers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(0, math.MaxInt64).Draw(t, "amount")
		part := rapid.Int64Range(1, basisPoints).Draw(t, "part")
		currency := rapid.SampledFrom([]string{"RUB", "JPY", "KWD", "UYW"}).Draw(t, "currency")
		limit := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "cap")

		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(4+money.Exponent(currency))), nil)
		want := new(big.Int).Mul(big.NewInt(amount), big.NewInt(part))
		want.Div(want, unit)
		if limit > 0 && want.Cmp(big.NewInt(limit)) > 0 {
			want.SetInt64(limit)
		}
		got := Terms{Kind: Percent, Value: part, CapPerOrder: limit}.points(money.Money{Amount: amount, Currency: currency})
		if !want.IsInt64() || got != want.Int64() {
			t.Fatalf("%d, want %s", got, want)
		}
	})
}
