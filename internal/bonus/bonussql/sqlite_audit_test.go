package bonussql_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/bonus"
	"kuhnya/internal/bonus/bonussql"
)

func TestViolations_of_accruals(t *testing.T) {
	check(t, map[string]planted{
		"nothing": {},
		"a client's accrual for an order that was evaluated": {sql: accrued("bob", alices, 5, bonus.FromAPI)},
		"an event's accrual that was evaluated":              {sql: evaluated + accrued("alice", newOrder, 22, bonus.FromEvent)},
		"a line without points":                              {sql: evaluation(0)},
		"accruals of two campaigns": {
			sql: accrued("bob", newOrder, 5, bonus.FromAPI) +
				`UPDATE accruals SET campaign_id = x'0d', order_id = ` + literal(bobs) + ` WHERE id = x'aa'`,
		},
		"two accruals of one business key": {
			`DROP INDEX accruals_business_key;` + accrued("bob", bobs, 5, bonus.FromAPI),
			audit.Accrual, "order " + bobs.String(), "accrued 2 times for it and user bob",
		},
		"an unknown origin": {
			`PRAGMA ignore_check_constraints = ON; UPDATE accruals SET origin = 'gift' WHERE user_id = 'alice'`,
			audit.Accrual, "accrual ", `unknown origin "gift"`,
		},
		"an event's accrual for an order without evaluation": {
			accrued("alice", newOrder, 22, bonus.FromEvent), audit.Accrual, "accrual aa", "for order " + newOrder.String() + ", which was not evaluated",
		},
		"an event's accrual for an order that earned nothing": {
			accrued("carol", carols, 22, bonus.FromEvent), audit.Accrual, "accrual ", "does not have its campaign",
		},
		"an event's accrual by a campaign that the order earned nothing by": {
			`UPDATE evaluation_lines SET points = 0 WHERE order_id = ` + theOrder,
			audit.Accrual, "accrual ", "is 22 points for order " + alices.String() + ", whose evaluation says 0",
		},
		"an event's accrual with other points": {
			`UPDATE evaluation_lines SET points = 23 WHERE order_id = ` + theOrder,
			audit.Accrual, "accrual ", "is 22 points for order " + alices.String() + ", whose evaluation says 23",
		},
		"an event's accrual of another user": {
			accrued("eve", alices, 22, bonus.FromEvent), audit.Accrual, "accrual ", "user eve, but that order was evaluated for alice",
		},
		"a line that was not accrued": {
			evaluated, audit.Accrual, "order " + newOrder.String(), "earned 22 points by campaign " + campaign.String(),
		},
		"a line that was accrued for another user": {
			evaluated + accrued("eve", newOrder, 22, bonus.FromAPI), audit.Accrual, "order " + newOrder.String(), "earned 22 points",
		},
		"a line that was accrued for another order": {
			evaluated + accrued("alice", uuid.UUID{15: 8}, 22, bonus.FromAPI), audit.Accrual, "order " + newOrder.String(), "earned 22 points",
		},
		"a line that was accrued by another campaign": {
			`INSERT INTO evaluation_lines VALUES (` + theOrder + `, x'0d', 1, 5)`,
			audit.Accrual, "order " + alices.String(), "earned 5 points",
		},
		"a line of no evaluation": {
			`DELETE FROM evaluations WHERE user_id = 'dave'`, audit.Accrual, "order " + daves.String(), "earned 22 points",
		},
	})
}

func TestAuditEvaluations(t *testing.T) {
	_, store := soundBonus(t)
	want := []audit.Evaluation{
		{ID: alices, User: "alice", Total: rub(450_00)}, {ID: carols, User: "carol", Total: rub(19_99)}, {ID: daves, User: "dave", Total: rub(450_00)},
	}
	if diff := cmp.Diff(want, all(t, store.AuditEvaluations(t.Context()))); diff != "" {
		t.Errorf("evaluations by order (-want +got):\n%s", diff)
	}
}

func TestAuditEarnings_are_of_records_alone(t *testing.T) {
	db, store := soundBonus(t)
	plant(t, db, accrued("zoe", uuid.UUID{}, 5, bonus.FromEvent))
	got := all(t, store.AuditEarnings(t.Context()))
	if len(got) != 2 {
		t.Fatalf("%v", got)
	}
	want := []audit.Earning{{ID: uuid.UUID{}, Accrual: uuid.UUID{0xaa}, User: "zoe"}, {ID: alices, Accrual: got[1].Accrual, User: "alice"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("earnings by order (-want +got):\n%s", diff)
	}
}

// TestAuditProgress_grows_with_whatever_is_done, also with what accrues nothing.
func TestAuditProgress_grows_with_whatever_is_done(t *testing.T) {
	db, store := soundBonus(t)
	rules := newService(store)
	defer func() { must(t, rules.Close(context.Background())) }()
	seen, err := store.AuditProgress(t.Context())
	must(t, err)
	if want := (bonussql.Progress{Versions: 1, Evaluations: 3, Accruals: 3, Answers: 2}); seen != want {
		t.Fatalf("%+v, want %+v", seen, want)
	}
	moved := func(what string, moves bool) {
		t.Helper()
		now, err := store.AuditProgress(t.Context())
		must(t, err)
		if (now != seen) != moves {
			t.Errorf("%s: %+v after %+v", what, now, seen)
		}
		seen = now
	}
	accrue(t, rules, "bob", bobs, 7, "secret-1")
	moved("a replay", false)
	accrue(t, rules, "bob", bobs, 7, "secret-3")
	moved("another key", true)
	accrue(t, rules, "eve", newOrder, 7, "")
	moved("an accrual", true)
	evaluate(t, rules, time.Unix(0, 0), completed("carol", uuid.UUID{15: 7}, 0))
	moved("an evaluation that earned nothing", true)
	_, err = rules.ChangeCampaign(t.Context(), campaign, func(terms bonus.Terms) (bonus.Terms, error) {
		terms.Active = false
		return terms, nil
	})
	must(t, err)
	moved("a change of a campaign", true)
	plant(t, db, `UPDATE outbox_lease SET epoch = epoch + 1`)
	moved("a lease", false)
}
