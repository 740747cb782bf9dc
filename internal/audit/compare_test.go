package audit_test

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

var (
	a = uuid.MustParse("00000000-0000-7000-8000-00000000000a")
	b = uuid.MustParse("00000000-0000-7000-8000-00000000000b")
)

func rub(amount int64) money.Money { return money.Money{Amount: amount, Currency: money.RUB} }

// order is one of alice over 450.00.
func order(id uuid.UUID, history ...lifecycle.Status) audit.Order {
	return audit.Order{
		ID: id, Status: audit.SetOf(history[len(history)-1]), Entered: audit.SetOf(history...), User: "alice", Total: rub(450_00),
	}
}

func ticket(id uuid.UUID, status lifecycle.Status, sent ...lifecycle.Status) audit.Ticket {
	return audit.Ticket{ID: id, Status: audit.SetOf(status), Sent: audit.SetOf(sent...)}
}

func evaluation(id uuid.UUID) audit.Evaluation {
	return audit.Evaluation{ID: id, User: "alice", Total: rub(450_00)}
}

func earning(id uuid.UUID, user string) audit.Earning {
	return audit.Earning{ID: id, Accrual: accrual, User: user}
}

var (
	accrual = uuid.MustParse("00000000-0000-7000-8000-0000000000ac")
	done    = []lifecycle.Status{lifecycle.Placed, lifecycle.Accepted, lifecycle.Cooking, lifecycle.Ready, lifecycle.Completed}
)

func sequence[T any](facts []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, f := range facts {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// compare returns what is found, in short, and checks its number: accruals have their own, all else is about orders.
func compare(t *testing.T, orders []audit.Order, tickets []audit.Ticket, evaluations []audit.Evaluation, earnings []audit.Earning,
	excused audit.Excused) (got []string) {
	t.Helper()
	violations, err := audit.Compare(audit.Facts{
		Orders: sequence(orders), Tickets: sequence(tickets), Evaluations: sequence(evaluations), Earnings: sequence(earnings), Excused: excused,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		want := audit.Projection
		if strings.HasPrefix(v.Subject, "accrual ") {
			want = audit.Accrual
		}
		if v.Invariant != want {
			t.Errorf("%v, want invariant %d", v, want)
		}
		got = append(got, named.Replace(v.Subject+" "+v.Detail))
	}
	return got
}

var named = strings.NewReplacer("order "+a.String(), "a", "order "+b.String(), "b", "accrual "+accrual.String(), "accrual")

func TestCompare_orders_with_tickets(t *testing.T) {
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
			if diff := cmp.Diff(c.want, compare(t, c.orders, c.tickets, nil, nil, c.excused)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompare_orders_with_bonuses: the orders' tickets are as they should be.
func TestCompare_orders_with_bonuses(t *testing.T) {
	const placed = lifecycle.Placed
	eves, other, dollars := evaluation(a), evaluation(a), evaluation(a)
	eves.User, other.Total.Amount, dollars.Total.Currency = "eve", 449_99, "USD"
	for name, c := range map[string]struct {
		orders      []audit.Order
		evaluations []audit.Evaluation
		earnings    []audit.Earning
		excused     audit.Excused
		want        []string // without "order" and id
	}{
		"the same story": {
			orders:      []audit.Order{order(a, done...), order(b, placed)},
			evaluations: []audit.Evaluation{evaluation(a)},
			earnings:    []audit.Earning{earning(a, "alice"), earning(a, "alice")},
		},
		"a completed order that earned nothing": {
			orders: []audit.Order{order(a, done...)}, evaluations: []audit.Evaluation{evaluation(a)},
		},
		"completed orders that were not evaluated": {
			orders: []audit.Order{order(a, done...), order(b, done...)},
			want:   []string{"a is completed, but was not evaluated", "b is completed, but was not evaluated"},
		},
		"a completed order that is excused": {
			orders: []audit.Order{order(a, done...), order(b, done...)}, excused: audit.Excused{a: true},
			want: []string{"b is completed, but was not evaluated"},
		},
		"an evaluation for another user": {
			orders: []audit.Order{order(a, done...)}, evaluations: []audit.Evaluation{eves},
			want: []string{"a is of user alice, but was evaluated for user eve"},
		},
		"an evaluation by another total": {
			orders: []audit.Order{order(a, done...)}, evaluations: []audit.Evaluation{other},
			want: []string{"a has a total of 45000 RUB, but was evaluated by 44999 RUB"},
		},
		"an evaluation by another currency": {
			orders: []audit.Order{order(a, done...)}, evaluations: []audit.Evaluation{dollars},
			want: []string{"a has a total of 45000 RUB, but was evaluated by 45000 USD"},
		},
		"an evaluation too early": {
			orders: []audit.Order{order(a, placed)}, evaluations: []audit.Evaluation{evaluation(a)},
			want: []string{"a was evaluated, but is placed"},
		},
		"evaluations of no orders": {
			orders: []audit.Order{}, evaluations: []audit.Evaluation{evaluation(a), evaluation(b)},
			want: []string{"a was evaluated but does not exist", "b was evaluated but does not exist"},
		},
		"evaluations of no orders that are excused": {
			evaluations: []audit.Evaluation{evaluation(a)}, excused: audit.Excused{a: true},
		},
		"points for no order": {
			earnings: []audit.Earning{earning(a, "alice")},
			want:     []string{"accrual is for a, which does not exist"},
		},
		"points for no order, though it was evaluated": {
			evaluations: []audit.Evaluation{evaluation(a)}, earnings: []audit.Earning{earning(a, "alice")},
			want: []string{"accrual is for a, which does not exist"},
		},
		"points too early": {
			orders: []audit.Order{order(a, placed)}, evaluations: []audit.Evaluation{evaluation(a)}, earnings: []audit.Earning{earning(a, "alice")},
			want: []string{"accrual is for a, which is placed"},
		},
		"points for another user": {
			orders: []audit.Order{order(a, done...)}, evaluations: []audit.Evaluation{evaluation(a)},
			earnings: []audit.Earning{earning(a, "eve"), earning(a, "alice")},
			want:     []string{"accrual is for a of user alice, but went to user eve"},
		},
		"points that nobody earned, which nothing excuses": {
			orders: []audit.Order{order(a, placed)}, earnings: []audit.Earning{earning(a, "alice"), earning(b, "alice")},
			excused: audit.Excused{a: true, b: true},
			want:    []string{"accrual is for a, which is placed", "accrual is for b, which does not exist"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var tickets []audit.Ticket
			for _, o := range c.orders {
				tickets = append(tickets, audit.Ticket{ID: o.ID, Status: o.Status, Sent: o.Entered})
			}
			if diff := cmp.Diff(c.want, compare(t, c.orders, tickets, c.evaluations, c.earnings, c.excused)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompare_fails_with_what_it_reads: what one side could not tell is never a violation, wherever it breaks off.
func TestCompare_fails_with_what_it_reads(t *testing.T) {
	broken := errors.New("broken")
	for at := range 3 {
		orders := func(yield func(audit.Order, error) bool) {
			for i := range at {
				if !yield(order(uuid.UUID{15: byte(i)}, lifecycle.Placed), nil) {
					return
				}
			}
			yield(audit.Order{}, broken)
		}
		_, err := audit.Compare(audit.Facts{
			Orders: orders, Tickets: sequence([]audit.Ticket{}), Evaluations: sequence([]audit.Evaluation{}), Earnings: sequence([]audit.Earning{}),
		})
		if !errors.Is(err, broken) {
			t.Errorf("after %d orders: error %v", at, err)
		}
	}
}
