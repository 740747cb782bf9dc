package bonussql_test

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/audit"
	"kuhnya/internal/bonus"
	"kuhnya/internal/bonus/bonussql"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/money"
)

// The campaign and the orders of a sound database, and two orders that it doesn't know.
var (
	campaign = uuid.UUID{15: 0xc}
	alices   = uuid.UUID{15: 1} // evaluated, and accrued for that
	bobs     = uuid.UUID{15: 2} // accrued by a client, under two keys; never evaluated
	carols   = uuid.UUID{15: 3} // evaluated, earned nothing
	daves    = uuid.UUID{15: 4} // accrued by a client, and later found to have earned other points
	newOrder = uuid.UUID{15: 9}
)

// The same in SQL.
var (
	theCampaign    = literal(campaign)
	theOrder       = literal(alices)
	theAccrual     = `(SELECT id FROM accruals WHERE order_id = ` + theOrder + `)`
	theTransaction = `(SELECT id FROM ledger_transactions WHERE accrual_id = ` + theAccrual + `)`

	evaluated = evaluation(22)
)

func literal(id uuid.UUID) string { return fmt.Sprintf("x'%x'", id[:]) }

// evaluation is that of a new order of alice.
func evaluation(points int) string {
	return fmt.Sprintf(`INSERT INTO evaluations VALUES (%[1]s, 'alice', 45000, 'RUB', 0, 0);
		INSERT INTO evaluation_lines VALUES (%[1]s, %s, 1, %d);`, literal(newOrder), theCampaign, points)
}

// accrued is one more accrual, with its transaction, entries and balances.
func accrued(user string, order uuid.UUID, points int, origin bonus.Origin) string {
	return fmt.Sprintf(`INSERT INTO accruals VALUES (x'aa', '%s', %s, %s, %d, '%s', 0);`, user, theCampaign, literal(order), points, origin) +
		fmt.Sprintf(`INSERT INTO ledger_transactions VALUES (x'bb', x'aa', 0);
			INSERT INTO ledger_entries VALUES (x'bb', 'issued', -%[2]d), (x'bb', 'wallet:%[1]s', %[2]d);`, user, points) + balanced
}

// balanced makes every balance equal to its entries.
const balanced = `DELETE FROM balances; INSERT INTO balances SELECT account, sum(amount) FROM ledger_entries GROUP BY account;`

// planted is one violation, or none.
type planted struct {
	sql       string
	invariant int // 0: the database stays sound
	subject   string
	detail    string
}

func (p planted) is(v audit.Violation) bool {
	return v.Invariant == p.invariant && strings.HasPrefix(v.Subject, p.subject) && strings.Contains(v.Detail, p.detail)
}

// check plants one violation at a time into a sound database, past the rules and the schema's own. Exactly that one is
// to be reported.
func check(t *testing.T, cases map[string]planted) {
	for name, p := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, store := soundBonus(t)
			plant(t, db, p.sql)
			violations, err := store.Violations(t.Context())
			must(t, err)
			if p.invariant == 0 && len(violations) > 0 {
				t.Errorf("violations %v, want none", violations)
			}
			if p.invariant != 0 && (len(violations) != 1 || !p.is(violations[0])) {
				t.Errorf("violations %v, want only invariant %d of %s: %s", violations, p.invariant, p.subject, p.detail)
			}
		})
	}
}

func all[T any](t *testing.T, facts iter.Seq2[T, error]) (list []T) {
	t.Helper()
	for fact, err := range facts {
		must(t, err)
		list = append(list, fact)
	}
	return list
}

// plant changes a database as somebody does who has its file: no foreign key stands in the way.
func plant(t *testing.T, db *database.SQLite, statements string) {
	t.Helper()
	var path string
	must(t, db.Read(t.Context(), func(c *database.Conn) error {
		return c.Query(`PRAGMA database_list`, func(r database.Row) error {
			path = r.Text(2)
			return nil
		})
	}))
	raw, err := sql.Open("sqlite3", "file:"+path)
	must(t, err)
	_, err = raw.ExecContext(t.Context(), `PRAGMA foreign_keys = OFF;`+statements)
	must(t, err)
	must(t, raw.Close())
}

func rub(amount int64) money.Money { return money.Money{Amount: amount, Currency: money.RUB} }

func newService(store bonussql.SQLite) *bonus.Service {
	return bonus.New(store, bonus.Options{
		Classify: database.BatchClass, Wake: func() {}, Encode: func(bonus.Accrual) ([]byte, error) { return []byte("{}"), nil },
	})
}

func accrue(t *testing.T, rules *bonus.Service, user string, order uuid.UUID, points int64, key idempotency.Key) {
	t.Helper()
	_, err := rules.Accrue(t.Context(), bonus.Accrue{
		BusinessKey: bonus.BusinessKey{UserID: user, CampaignID: campaign, OrderID: order}, Points: points, Caller: "service:erp", Key: key,
	})
	must(t, err)
}

func completed(user string, order uuid.UUID, total int64) bonus.Completed {
	return bonus.Completed{OrderID: order, UserID: user, EstablishmentID: uuid.UUID{15: 0xe}, Total: rub(total)}
}

func evaluate(t *testing.T, rules *bonus.Service, placedAt time.Time, orders ...bonus.Completed) {
	t.Helper()
	for i := range orders {
		orders[i].PlacedAt = placedAt
	}
	for _, err := range rules.Evaluate(t.Context(), orders) {
		must(t, err)
	}
}

// soundBonus is a database in which every kind of accrual has come to be by the rules.
func soundBonus(t *testing.T) (*database.SQLite, bonussql.SQLite) {
	t.Helper()
	db := databasetest.SQLite(t, bonussql.Migrations(), messagesql.Migrations())
	store := bonussql.NewSQLite(db)
	rules := newService(store)
	defer func() { must(t, rules.Close(context.Background())) }()
	created, _, err := rules.CreateCampaign(t.Context(), bonus.CreateCampaign{ID: campaign, Caller: "operator:olga", Terms: bonus.Terms{
		Name: "Cash back", Kind: bonus.Percent, Value: 500, Timezone: "UTC", Active: true,
	}})
	must(t, err)
	accrue(t, rules, "bob", bobs, 7, "secret-1")
	accrue(t, rules, "bob", bobs, 7, "secret-2")
	accrue(t, rules, "dave", daves, 100, "")
	evaluate(t, rules, created.CreatedAt.Add(time.Second),
		completed("alice", alices, 450_00), completed("carol", carols, 19_99), completed("dave", daves, 450_00))
	return db, store
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
