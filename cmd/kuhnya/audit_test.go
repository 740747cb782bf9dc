package main

import (
	"strings"
	"testing"

	"kuhnya/internal/audit"
)

// TestAudit_shows_keys_of_strangers_harmlessly: a record that is sent again may have any bytes for a key, and its outbox
// row may be parked.
func TestAudit_shows_keys_of_strangers_harmlessly(t *testing.T) {
	var out strings.Builder
	parked := audit.Parked{Database: "kitchen", ID: 7, Key: "\x1b[2Jkey\n", Reason: "too large"}
	if err := (&auditCmd{}).print(&out, auditReport{Parked: []audit.Parked{parked}}); err != nil {
		t.Fatal(err)
	}
	const want = `parked in kitchen: outbox row 7 of \u001b[2Jkey\u000a: too large`
	if first, _, _ := strings.Cut(out.String(), "\n"); first != want {
		t.Errorf("%q, want %q", first, want)
	}
}
