package audit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/lifecycle"
)

var (
	a = uuid.MustParse("00000000-0000-7000-8000-00000000000a")
	b = uuid.MustParse("00000000-0000-7000-8000-00000000000b")
)

type statuses = map[uuid.UUID]lifecycle.Status

type histories = map[uuid.UUID][]lifecycle.Status

func TestCompare(t *testing.T) {
	placedAccepted := []lifecycle.Status{lifecycle.Placed, lifecycle.Accepted}
	for name, c := range map[string]struct {
		orders  audit.Orders
		tickets audit.Tickets
		excused audit.Excused
		want    []string
	}{
		"nothing at all": {},
		"the same story": {
			orders:  audit.Orders{Status: statuses{a: lifecycle.Accepted}, Entered: histories{a: placedAccepted}},
			tickets: audit.Tickets{Status: statuses{a: lifecycle.Accepted}, Sent: histories{a: {lifecycle.Accepted}}},
		},
		"an order without a ticket": {
			orders: audit.Orders{Status: statuses{b: lifecycle.Placed, a: lifecycle.Cancelled}},
			want:   []string{"order " + a.String() + ": has no ticket", "order " + b.String() + ": has no ticket"},
		},
		"a ticket with another status": {
			orders:  audit.Orders{Status: statuses{a: lifecycle.Accepted}},
			tickets: audit.Tickets{Status: statuses{a: lifecycle.Placed}},
			want:    []string{"order " + a.String() + ": is accepted, its ticket placed"},
		},
		"a ticket without an order": {
			tickets: audit.Tickets{Status: statuses{a: lifecycle.Placed}},
			want:    []string{"order " + a.String() + ": has a ticket but does not exist"},
		},
		"a step that never arrived": {
			orders:  audit.Orders{Status: statuses{a: lifecycle.Accepted}, Entered: histories{a: placedAccepted}},
			tickets: audit.Tickets{Status: statuses{a: lifecycle.Accepted}, Sent: histories{a: {lifecycle.Accepted, lifecycle.Cooking}}},
			want:    []string{"order " + a.String() + ": never entered cooking, though that step was sent"},
		},
		"a step of no order": {
			tickets: audit.Tickets{Sent: histories{a: {lifecycle.Accepted}}},
			want:    []string{"order " + a.String() + ": never entered accepted, though that step was sent"},
		},
		"the excused alone are passed over": {
			orders: audit.Orders{Status: statuses{a: lifecycle.Placed, b: lifecycle.Placed}},
			tickets: audit.Tickets{
				Status: statuses{b: lifecycle.Accepted}, Sent: histories{a: {lifecycle.Accepted}, b: {lifecycle.Accepted}},
			},
			excused: audit.Excused{a: true, b: false},
			want: []string{
				"order " + b.String() + ": is placed, its ticket accepted",
				"order " + b.String() + ": never entered accepted, though that step was sent",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range audit.Compare(c.orders, c.tickets, c.excused) {
				if v.Invariant != audit.Projection {
					t.Errorf("%v is not about invariant %d", v, audit.Projection)
				}
				got = append(got, v.Subject+": "+v.Detail)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
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

func TestViolation_names_its_invariant(t *testing.T) {
	v := audit.Violation{Invariant: audit.Stock, Subject: "dish 1", Detail: "is gone"}
	if got, want := v.String(), "invariant 1: dish 1: is gone"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
