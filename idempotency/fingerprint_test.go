package idempotency_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kuhnya/idempotency"
)

// member is one member of a made-up command; exactly one of its values is set, or none if it is absent.
type member struct {
	Name string
	Text *string
	Int  *int64
	Bool *bool
	List [][]member
}

func write(b *idempotency.Builder, members []member) {
	for _, m := range members {
		b.OptString(m.Name, m.Text).OptInt(m.Name, m.Int)
		if m.Bool != nil {
			b.Bool(m.Name, *m.Bool)
		}
		if m.List != nil {
			b.List(m.Name, len(m.List), func(i int, b *idempotency.Builder) { write(b, m.List[i]) })
		}
	}
}

func fingerprint(operation string, members ...member) idempotency.Fingerprint {
	b := idempotency.NewFingerprint(operation)
	write(b, members)
	return b.Sum()
}

func text(name, value string) member      { return member{Name: name, Text: &value} }
func integer(name string, v int64) member { return member{Name: name, Int: &v} }

func list(name string, elements ...[]member) member {
	return member{Name: name, List: append([][]member{}, elements...)}
}

func TestFingerprint(t *testing.T) {
	t.Run("differs for commands that only concatenate to the same text", func(t *testing.T) {
		a, b := text("a", "1"), text("b", "2")
		commands := map[string]idempotency.Fingerprint{
			"nothing":               fingerprint("op"),
			"other operation":       fingerprint("o"),
			"operation and name":    fingerprint("o", text("p", "")),
			"values ab c":           fingerprint("op", text("x", "ab"), text("y", "c")),
			"values a bc":           fingerprint("op", text("x", "a"), text("y", "bc")),
			"name xa":               fingerprint("op", text("xa", "b")),
			"name x":                fingerprint("op", text("x", "ab")),
			"empty":                 fingerprint("op", text("x", "")),
			"number":                fingerprint("op", integer("x", 1)),
			"text of a number":      fingerprint("op", text("x", "1")),
			"truth":                 fingerprint("op", member{Name: "x", Bool: new(true)}),
			"zero":                  fingerprint("op", integer("x", 0)),
			"untruth":               fingerprint("op", member{Name: "x", Bool: new(false)}),
			"empty list":            fingerprint("op", list("x")),
			"list of nothing":       fingerprint("op", list("x", nil)),
			"two in one":            fingerprint("op", list("x", []member{a, b})),
			"one in each":           fingerprint("op", list("x", []member{a}, []member{b})),
			"first holds both":      fingerprint("op", list("x", []member{a, b}, nil)),
			"other order":           fingerprint("op", list("x", []member{b}, []member{a})),
			"member behind a list":  fingerprint("op", list("x", []member{a}), b),
			"list in the last line": fingerprint("op", list("x", []member{a, list("b")})),
		}
		seen := map[idempotency.Fingerprint]string{}
		for name, f := range commands {
			if other, twice := seen[f]; twice {
				t.Errorf("%q and %q have the same fingerprint", name, other)
			}
			seen[f] = name
		}
	})

	t.Run("is that of the same command only", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a, b := commands(2).Draw(t, "a"), commands(2).Draw(t, "b")
			same := cmp.Equal(present(a), present(b))
			if got := fingerprint("op", a...).Equal(fingerprint("op", b...)); got != same {
				t.Errorf("equal %t for commands that are the same: %t", got, same)
			}
		})
	})

	t.Run("leaves absent members out", func(t *testing.T) {
		with := fingerprint("op", text("a", "1"), member{Name: "absent"})
		if without := fingerprint("op", text("a", "1")); !with.Equal(without) {
			t.Error("an absent member changes the fingerprint")
		}
	})

	t.Run("keeps its stored form", func(t *testing.T) {
		// Orders and accruals keep fingerprints for as long as they live: a change here needs a new version.
		f := fingerprint("orders.place", text("establishment_id", uuid), list("lines",
			[]member{text("dish_id", uuid), integer("quantity", 2), {Name: "expected_price"}}), member{Name: "gift", Bool: new(true)})
		const stored = "v1:5a1b4207b5f948a2b5cbcff6851d60a1f105967cdb3624611494299fa664b4af"
		if f.String() != stored {
			t.Errorf("fingerprint %v, want %v", f, stored)
		}
	})

	t.Run("survives storage", func(t *testing.T) {
		f := fingerprint("op", text("a", "1"))
		got, err := idempotency.ParseFingerprint(f.Bytes())
		if err != nil || !got.Equal(f) {
			t.Errorf("parsed %v, %v; want %v", got, err, f)
		}
		other := f.Bytes()
		other[0]++
		for _, stored := range [][]byte{nil, f.Bytes()[1:], append(f.Bytes(), 0), other} {
			if _, err := idempotency.ParseFingerprint(stored); !errors.Is(err, idempotency.ErrInvalidFingerprint) {
				t.Errorf("parsing %x: %v", stored, err)
			}
		}
	})
}

// commands draws from few names and values, so that two draws are often alike or nearly so.
func commands(depth int) *rapid.Generator[[]member] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) member {
		m := member{Name: rapid.SampledFrom([]string{"a", "b", "ab", ""}).Draw(t, "name")}
		switch rapid.IntRange(0, 3+min(depth, 1)).Draw(t, "type") {
		case 0: // absent
		case 1:
			m.Text = new(rapid.SampledFrom([]string{"", "a", "ab", "\x00\x01"}).Draw(t, "text"))
		case 2:
			m.Int = new(rapid.SampledFrom([]int64{0, 1, -1, 1 << 62}).Draw(t, "int"))
		case 3:
			m.Bool = new(rapid.Bool().Draw(t, "bool"))
		case 4:
			m.List = rapid.SliceOfN(commands(depth-1), 0, 2).Draw(t, "list")
		}
		return m
	}), 0, 3)
}

// present leaves out, at every depth, what is absent.
func present(members []member) []member {
	var there []member
	for _, m := range members {
		if m.Text == nil && m.Int == nil && m.Bool == nil && m.List == nil {
			continue
		}
		for i := range m.List {
			m.List[i] = present(m.List[i])
		}
		there = append(there, m)
	}
	return there
}

func TestDecide(t *testing.T) {
	a, b := fingerprint("op", text("a", "1")), fingerprint("op", text("a", "2"))
	cases := []struct {
		found       bool
		stored, got idempotency.Fingerprint
		want        idempotency.Verdict
	}{
		{false, idempotency.Fingerprint{}, a, idempotency.Execute},
		{true, a, a, idempotency.Replay},
		{true, b, a, idempotency.Reused},
		{true, idempotency.Fingerprint{}, a, idempotency.Reused},
	}
	for _, c := range cases {
		if got := idempotency.Decide(c.found, c.stored, c.got); got != c.want {
			t.Errorf("Decide(%t, %v, %v) = %v, want %v", c.found, c.stored, c.got, got, c.want)
		}
	}
}
