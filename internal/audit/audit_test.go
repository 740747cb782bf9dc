package audit_test

import (
	"strings"
	"testing"

	"kuhnya/internal/audit"
	"kuhnya/internal/lifecycle"
)

func TestSetOf_keeps_every_status_apart(t *testing.T) {
	seen := map[audit.Statuses]bool{audit.SetOf(): true}
	for _, s := range lifecycle.Statuses {
		if set := audit.SetOf(s); seen[set] {
			t.Errorf("%s is %b, as another", s, set)
		}
		seen[audit.SetOf(s)] = true
	}
	if got := audit.SetOf("eaten"); got != 0 {
		t.Errorf("an unknown status is %b", got)
	}
	if got, want := audit.SetOfList("cooking,eaten,placed"), audit.SetOf(lifecycle.Placed, lifecycle.Cooking); got != want {
		t.Errorf("a list is %b, want %b", got, want)
	}
}

func TestUnrest(t *testing.T) {
	if got := (audit.Rest{}).Unrest(); got != "" {
		t.Errorf("rest is called %q", got)
	}
	for _, r := range []audit.Rest{{Outbox: 7}, {Steps: 7}, {Lag: 7}} {
		if got := r.Unrest(); !strings.Contains(got, "7") {
			t.Errorf("%+v is called %q", r, got)
		}
	}
}

func TestParked_names_its_row(t *testing.T) {
	p := audit.Parked{Database: "kitchen", ID: 7, Key: "k", Reason: "too large"}
	if got, want := p.String(), "parked in kitchen: outbox row 7 of k: too large"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestViolation_names_its_invariant(t *testing.T) {
	v := audit.Violation{Invariant: audit.Stock, Subject: "dish 1", Detail: "is gone"}
	if got, want := v.String(), "invariant 1 (stock): dish 1: is gone"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for invariant := 1; invariant <= 6; invariant++ {
		v.Invariant = invariant
		if text := v.String(); strings.Contains(text, "()") {
			t.Errorf("no word for it: %s", text)
		}
	}
}
