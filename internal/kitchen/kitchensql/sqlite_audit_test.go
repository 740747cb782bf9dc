package kitchensql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// TestViolations plants one violation at a time into a sound database, past the rules and, where they stand in the way,
// past the schema's own. Exactly that one is reported.
func TestViolations(t *testing.T) {
	for name, c := range map[string]struct {
		plant     []string
		invariant int // 0: the database stays sound
		subject   string
	}{
		"nothing": {},
		"a cancellation that returns what was taken": {
			plant: []string{
				`INSERT INTO order_status_events SELECT order_id, 4, 'cooking', 'cancelled', actor, '', NULL, 1, 0, 0 FROM order_status_events WHERE seq = 3`,
				`UPDATE orders SET status = 'cancelled', seq = 4`, `UPDATE dishes SET stock = stock + 2`,
			},
		},
		"stock out of nowhere": {
			[]string{`UPDATE dishes SET stock = stock + 1 WHERE name = 'Soup'`}, audit.Stock, "dish ",
		},
		"a line that took nothing": {
			[]string{`UPDATE order_lines SET taken = 0`}, audit.Stock, "dish ",
		},
		"a change by hand that stock never saw": {
			[]string{`UPDATE stock_changes SET delta = delta + 1`}, audit.Stock, "dish ",
		},
		"stock below zero": {
			[]string{
				`PRAGMA ignore_check_constraints = ON`, `UPDATE dishes SET stock = stock - 1000 WHERE name = 'Soup'`,
				`UPDATE stock_changes SET delta = delta - 1000`,
			}, audit.Stock, "dish ",
		},
		"two orders under one key": {
			[]string{
				`DROP INDEX orders_client_key`,
				`INSERT INTO orders SELECT x'01', user_id, establishment_id, 'placed', '', 0, currency, '', 1, 0, 0, 0, client_idempotency_key, NULL FROM orders`,
				`INSERT INTO order_status_events VALUES (x'01', 1, '', 'placed', 'customer:alice', '', NULL, 1, 0, 0)`,
			}, audit.ClientKey, "user alice",
		},
		"the same key of another user": {
			plant: []string{
				`INSERT INTO orders SELECT x'01', 'bob', establishment_id, 'placed', '', 0, currency, '', 1, 0, 0, 0, client_idempotency_key, NULL FROM orders`,
				`INSERT INTO order_status_events VALUES (x'01', 1, '', 'placed', 'customer:bob', '', NULL, 1, 0, 0)`,
			},
		},
		"an order without events": {[]string{`DELETE FROM order_status_events`}, audit.History, "order "},
		"the first event missing": {[]string{`DELETE FROM order_status_events WHERE seq = 1`}, audit.History, "order "},
		"a gap":                   {[]string{`UPDATE order_status_events SET seq = 9 WHERE seq = 3`}, audit.History, "order "},
		"an event that leaves another status": {
			[]string{
				`UPDATE order_status_events SET from_status = 'ready', to_status = 'cancelled' WHERE seq = 3`,
				`UPDATE orders SET status = 'cancelled'`, `UPDATE dishes SET stock = stock + 2`,
			}, audit.History, "order ",
		},
		"an event the table does not have": {
			[]string{`UPDATE order_status_events SET to_status = 'ready' WHERE seq = 3`, `UPDATE orders SET status = 'ready'`},
			audit.History, "order ",
		},
		"a beginning that is not placed": {
			[]string{
				`UPDATE order_status_events SET to_status = 'accepted' WHERE seq = 1`,
				`UPDATE order_status_events SET from_status = 'accepted', to_status = 'cooking' WHERE seq = 2`,
				`UPDATE order_status_events SET from_status = 'cooking', to_status = 'ready' WHERE seq = 3`,
				`UPDATE orders SET status = 'ready'`,
			}, audit.History, "order ",
		},
		"a status without its event": {[]string{`UPDATE orders SET status = 'ready'`}, audit.History, "order "},
		"a seq without its event":    {[]string{`UPDATE orders SET seq = seq + 1`}, audit.History, "order "},
		"an event after the end": {
			[]string{`INSERT INTO order_status_events SELECT order_id, 4, 'cooking', 'ready', actor, '', NULL, 1, 0, 0 FROM order_status_events WHERE seq = 3`},
			audit.History, "order ",
		},
		"a key on two events": {
			[]string{`DROP INDEX order_status_events_key`, `UPDATE order_status_events SET idempotency_key = 'k'`}, audit.History, "order ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, store := soundKitchen(t)
			must(t, db.Write(t.Context(), func(conn *database.Conn) error {
				for _, statement := range c.plant {
					if err := conn.Exec(statement); err != nil {
						return err
					}
				}
				return nil
			}))
			violations, err := store.Violations(t.Context())
			must(t, err)
			switch {
			case c.invariant == 0 && len(violations) == 0:
			case len(violations) != 1:
				t.Errorf("%d violations, want one: %v", len(violations), violations)
			case violations[0].Invariant != c.invariant || !strings.HasPrefix(violations[0].Subject, c.subject):
				t.Errorf("%v, want invariant %d of %s", violations[0], c.invariant, c.subject)
			}
		})
	}
}

func TestViolations_name_an_order_by_its_id(t *testing.T) {
	db, store := soundKitchen(t)
	first := uuid.UUID{15: 1}
	must(t, db.Write(t.Context(), func(conn *database.Conn) error {
		must(t, conn.Exec(`DROP INDEX orders_client_key`))
		return conn.Exec(`INSERT INTO orders SELECT ?, user_id, establishment_id, 'placed', '', 0, currency, '', 1, 0, 0, 0, client_idempotency_key, NULL FROM orders`, first)
	}))
	violations, err := store.Violations(t.Context())
	must(t, err)
	if !strings.Contains(fmt.Sprint(violations), "one key names 2 orders, the first is "+first.String()) {
		t.Errorf("violations %v", violations)
	}
}

func TestAuditOrders(t *testing.T) {
	db, store := soundKitchen(t)
	first := uuid.UUID{15: 1}
	must(t, db.Write(t.Context(), func(conn *database.Conn) error {
		return conn.Exec(`INSERT INTO orders SELECT ?, 'bob', establishment_id, 'eaten', '', 0, currency, '', 1, 0, 0, 0, NULL, NULL FROM orders`, first)
	}))
	var orders []audit.Order
	for order, err := range store.AuditOrders(t.Context()) {
		must(t, err)
		orders = append(orders, order)
	}
	if len(orders) != 2 {
		t.Fatalf("orders %v", orders)
	}
	want := []audit.Order{{ID: first, User: "bob", Total: money.Money{Currency: money.RUB}}, {
		ID: orders[1].ID, Status: audit.SetOf(lifecycle.Cooking),
		Entered: audit.SetOf(lifecycle.Placed, lifecycle.Accepted, lifecycle.Cooking),
		User:    "alice", Total: money.Money{Amount: 900_00, Currency: money.RUB},
	}}
	if diff := cmp.Diff(want, orders); diff != "" {
		t.Errorf("orders by id (-want +got):\n%s", diff)
	}
}

func TestAuditProgress(t *testing.T) {
	db, store := soundKitchen(t)
	before, err := store.AuditProgress(t.Context())
	must(t, err)
	if before.Events != 3 || time.Since(before.Last) > time.Hour {
		t.Errorf("progress %+v", before)
	}
	must(t, db.Write(t.Context(), func(conn *database.Conn) error {
		return conn.Exec(`INSERT INTO order_status_events SELECT order_id, 4, 'cooking', 'ready', actor, '', NULL, 1, 0, 0 FROM order_status_events WHERE seq = 3`)
	}))
	if after, err := store.AuditProgress(t.Context()); err != nil || after == before {
		t.Errorf("progress after a change %+v, %v", after, err)
	}
}

// soundKitchen is a database with one order that alice placed under a key and that is being cooked.
func soundKitchen(t *testing.T) (*database.SQLite, kitchensql.SQLite) {
	t.Helper()
	db := databasetest.SQLite(t, kitchensql.Migrations(), messagesql.Migrations())
	store := kitchensql.NewSQLite(db)
	service := kitchen.New(store, kitchen.Options{Classify: database.BatchClass, Wake: func() {}})
	defer func() { must(t, service.Close(context.Background())) }()
	place := kitchen.Establishment{
		ID: uuid.New(), Name: "Canteen", State: kitchen.Open, AcceptTimeout: time.Minute, Timezone: "UTC", Currency: money.RUB,
	}
	_, _, err := service.PutEstablishment(t.Context(), place)
	must(t, err)
	soup := kitchen.MenuDish{ID: uuid.New(), ExternalID: "soup", Name: "Soup", Price: 450_00, InitialStock: new(int64(100))}
	must(t, service.PutMenu(t.Context(), place.ID, []kitchen.MenuDish{soup}, "staff:marta"))
	placed, err := service.Place(t.Context(), kitchen.PlaceOrder{
		UserID: "alice", EstablishmentID: place.ID, Key: "k", Lines: []kitchen.PlaceLine{{DishID: soup.ID, Quantity: 2}},
	})
	must(t, err)
	for _, status := range []lifecycle.Status{lifecycle.Accepted, lifecycle.Cooking} {
		_, err := service.Change(t.Context(), kitchen.Change{
			OrderID: placed.Order.ID, EstablishmentID: place.ID, To: status, Party: lifecycle.Staff, Actor: "staff:marta",
		})
		must(t, err)
	}
	return db, store
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
