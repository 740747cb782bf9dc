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

func order(id uuid.UUID, history ...lifecycle.Status) audit.Order {
	return audit.Order{ID: id, Status: audit.SetOf(history[len(history)-1]), Entered: audit.SetOf(history...)}
}

func ticket(id uuid.UUID, status lifecycle.Status, sent ...lifecycle.Status) audit.Ticket {
	return audit.Ticket{ID: id, Status: audit.SetOf(status), Sent: audit.SetOf(sent...)}
}

func TestCompare(t *testing.T) {
	const placed, accepted, cooking = lifecycle.Placed, lifecycle.Accepted, lifecycle.Cooking
	for name, c := range map[string]struct {
		orders  []audit.Order
		tickets []audit.Ticket
		excused audit.Excused
		want    []string // without "order" and id
	}{
		"nothing at all": {},
		"the same story": {
			orders:  []audit.Order{order(a, placed, accepted), order(b, placed)},
			tickets: []audit.Ticket{ticket(a, accepted, accepted), ticket(b, placed)},
		},
		"orders without tickets": {
			orders: []audit.Order{order(a, placed), order(b, placed)},
			want:   []string{"a has no ticket", "b has no ticket"},
		},
		"an order without a ticket before one that has it": {
			orders:  []audit.Order{order(a, placed), order(b, placed)},
			tickets: []audit.Ticket{ticket(b, placed)},
			want:    []string{"a has no ticket"},
		},
		"an order with a hidden ticket": {
			orders:  []audit.Order{order(a, placed)},
			tickets: []audit.Ticket{{ID: a, Hidden: true, Status: audit.SetOf(placed)}},
			want:    []string{"a has no ticket"},
		},
		"a hidden ticket without an order": {
			tickets: []audit.Ticket{{ID: a, Hidden: true, Status: audit.SetOf(placed)}},
		},
		"a ticket with another status": {
			orders:  []audit.Order{order(a, placed, accepted)},
			tickets: []audit.Ticket{ticket(a, placed)},
			want:    []string{"a is accepted, its ticket placed"},
		},
		"a ticket without an order before one that has it": {
			orders:  []audit.Order{order(b, placed)},
			tickets: []audit.Ticket{ticket(a, placed), ticket(b, placed)},
			want:    []string{"a has a ticket but does not exist"},
		},
		"a ticket without an order at the end": {
			orders:  []audit.Order{order(a, placed)},
			tickets: []audit.Ticket{ticket(a, placed), ticket(b, placed)},
			want:    []string{"b has a ticket but does not exist"},
		},
		"steps that never arrived": {
			orders:  []audit.Order{order(a, placed, accepted)},
			tickets: []audit.Ticket{ticket(a, accepted, lifecycle.Cancelled, accepted, cooking)},
			want:    []string{"a never entered cooking, though that step was sent", "a never entered cancelled, though that step was sent"},
		},
		"a step of no order": {
			tickets: []audit.Ticket{ticket(a, accepted, accepted)},
			want:    []string{"a has a ticket but does not exist", "a never entered accepted, though that step was sent"},
		},
		"the excused alone are passed over": {
			orders:  []audit.Order{order(a, placed), order(b, placed)},
			tickets: []audit.Ticket{ticket(a, accepted, accepted), ticket(b, accepted, accepted)},
			excused: audit.Excused{a: true, b: false},
			want:    []string{"b is placed, its ticket accepted", "b never entered accepted, though that step was sent"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range audit.Compare(c.orders, c.tickets, c.excused) {
				if v.Invariant != audit.Projection {
					t.Errorf("%v is not about invariant %d", v, audit.Projection)
				}
				got = append(got, named.Replace(v.Subject)+" "+v.Detail)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var named = strings.NewReplacer("order "+a.String(), "a", "order "+b.String(), "b")

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
	if got, want := v.String(), "invariant 1: dish 1: is gone"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
