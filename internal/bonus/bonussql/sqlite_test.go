package bonussql_test

import (
	"context"
	"testing"

	"kuhnya/internal/audit"
	"kuhnya/internal/bonus/bonussql"
	"kuhnya/internal/bonus/bonustest"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
)

func TestSQLite(t *testing.T) {
	bonustest.Run(t, func(t *testing.T) bonustest.Engine {
		db := databasetest.SQLite(t, bonussql.Migrations(), messagesql.Migrations())
		return bonustest.Engine{
			Store: bonussql.NewSQLite(db), Outbox: messagesql.NewOutbox(db), Classify: database.BatchClass, Violations: violations(db),
		}
	})
}

// violations checks sums in the tables themselves, over all accounts.
func violations(db *database.SQLite) func(context.Context) ([]audit.Violation, error) {
	return func(ctx context.Context) (found []audit.Violation, err error) {
		err = db.Read(ctx, func(c *database.Conn) error {
			for name, query := range map[string]string{
				"transaction does not sum to zero": `SELECT hex(transaction_id) FROM ledger_entries GROUP BY transaction_id HAVING sum(amount) <> 0 OR count(*) <> 2`,
				"transaction without entries":      `SELECT hex(id) FROM ledger_transactions WHERE id NOT IN (SELECT transaction_id FROM ledger_entries)`,
				"accrual without transaction":      `SELECT hex(id) FROM accruals WHERE id NOT IN (SELECT accrual_id FROM ledger_transactions)`,
				"balance is not its entries": `SELECT account FROM (SELECT account, amount FROM ledger_entries UNION ALL SELECT account, -balance FROM balances)
					GROUP BY account HAVING sum(amount) <> 0`,
				"line without accrual": `SELECT hex(l.order_id) FROM evaluation_lines l JOIN evaluations e ON e.order_id = l.order_id
					LEFT JOIN accruals a ON a.user_id = e.user_id AND a.campaign_id = l.campaign_id AND a.order_id = l.order_id
					WHERE a.id IS NULL OR a.origin = 'event' AND a.points <> l.points`,
				"accrual of an event without line": `SELECT hex(a.id) FROM accruals a WHERE a.origin = 'event' AND NOT EXISTS
					(SELECT 1 FROM evaluation_lines l WHERE l.order_id = a.order_id AND l.campaign_id = a.campaign_id)`,
			} {
				err := c.Query(query, func(r database.Row) error {
					found = append(found, audit.Violation{Subject: r.Text(0), Detail: name})
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		return found, err
	}
}
