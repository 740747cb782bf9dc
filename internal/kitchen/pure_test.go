package kitchen

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"kuhnya/internal/money"
)

// spell writes an id as one number in Crockford's base 32, by long division.
func spell(id uuid.UUID) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	number, base, digit := new(big.Int).SetBytes(id[:]), big.NewInt(32), new(big.Int)
	var spelled strings.Builder
	for range 26 { // 128 bits
		number.DivMod(number, base, digit)
		spelled.WriteByte(digits[digit.Int64()])
	}
	reversed := []byte(spelled.String())
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return string(reversed)
}

func TestCode_is_the_end_of_the_id_in_base_32(t *testing.T) {
	for id, want := range map[string]string{
		"00000000-0000-0000-0000-000000000000": "00000",
		"ffffffff-ffff-ffff-ffff-ffffffffffff": "ZZZZZ",
		"0199f3a0-0000-7000-8000-000000000020": "00010",
		"0199f3a0-0000-7000-8000-000002000000": "00000",
		"0199f3a0-0000-7000-8000-000001000000": "G0000",
	} {
		if got := Code(uuid.MustParse(id)); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		id := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(r, "id"))
		if got, want := Code(id), spell(id)[21:]; got != want {
			r.Errorf("%s: %s, want %s", id, got, want)
		}
	})
}

func command() PlaceOrder {
	return PlaceOrder{
		UserID: "alice", EstablishmentID: uuid.MustParse("0199f3a0-0000-7000-8000-0000000000bb"), Key: "k",
		Lines: []PlaceLine{
			{DishID: uuid.MustParse("0199f3a0-0000-7000-8000-0000000000d1"), Quantity: 1},
			{DishID: uuid.MustParse("0199f3a0-0000-7000-8000-0000000000d2"), Quantity: 2, ExpectedPrice: &money.Money{Amount: 450_00, Currency: "RUB"}},
		},
		Comment: "no onions",
	}
}

// TestFingerprint_tells_commands_apart: what the customer asked for differs, so does the fingerprint.
func TestFingerprint_tells_commands_apart(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*PlaceOrder){
		"itself":             func(*PlaceOrder) {},
		"establishment":      func(c *PlaceOrder) { c.EstablishmentID = uuid.Nil },
		"dish":               func(c *PlaceOrder) { c.Lines[0].DishID = c.Lines[1].DishID },
		"quantity":           func(c *PlaceOrder) { c.Lines[0].Quantity = 2 },
		"quantities swapped": func(c *PlaceOrder) { c.Lines[0].Quantity, c.Lines[1].Quantity = 2, 1 },
		"order of lines":     func(c *PlaceOrder) { c.Lines[0], c.Lines[1] = c.Lines[1], c.Lines[0] },
		"a line less":        func(c *PlaceOrder) { c.Lines = c.Lines[:1] },
		"a line more":        func(c *PlaceOrder) { c.Lines = append(c.Lines, c.Lines[0]) },
		"no lines":           func(c *PlaceOrder) { c.Lines = nil },
		"price":              func(c *PlaceOrder) { c.Lines[1].ExpectedPrice = &money.Money{Amount: 451_00, Currency: "RUB"} },
		"currency":           func(c *PlaceOrder) { c.Lines[1].ExpectedPrice = &money.Money{Amount: 450_00, Currency: "USD"} },
		"price of the other": func(c *PlaceOrder) {
			c.Lines[0].ExpectedPrice, c.Lines[1].ExpectedPrice = c.Lines[1].ExpectedPrice, nil
		},
		"no price":            func(c *PlaceOrder) { c.Lines[1].ExpectedPrice = nil },
		"price of nothing":    func(c *PlaceOrder) { c.Lines[1].ExpectedPrice = &money.Money{} },
		"comment":             func(c *PlaceOrder) { c.Comment = "no onions " },
		"case of the comment": func(c *PlaceOrder) { c.Comment = "No onions" },
		"no comment":          func(c *PlaceOrder) { c.Comment = "" },
	} {
		c := command()
		change(&c)
		print := string(c.fingerprint().Bytes())
		if other, taken := seen[print]; taken {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		seen[print] = name
	}
}

// TestFingerprint_stays_what_it_is: it is stored with orders, whose keys the next version must know too.
func TestFingerprint_stays_what_it_is(t *testing.T) {
	const want = "01792693dddc710690bf6ce79b6b9af9dad75e451ddd757443b408537240d7300c"
	if got := hex.EncodeToString(command().fingerprint().Bytes()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFingerprint_leaves_the_scope_out: key and customer are where the fingerprint is looked up.
func TestFingerprint_leaves_the_scope_out(t *testing.T) {
	other := command()
	other.UserID, other.Key = "bob", "another"
	price := *other.Lines[1].ExpectedPrice
	other.Lines[1].ExpectedPrice = &price
	if string(other.fingerprint().Bytes()) != string(command().fingerprint().Bytes()) {
		t.Error("customer, key or an address in memory count")
	}
}
