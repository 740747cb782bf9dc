package bonussql

import (
	"fmt"
	"math/big"

	"kuhnya/internal/audit"
	"kuhnya/internal/bonus"
	"kuhnya/internal/database"
)

// Where a database is damaged a sum may leave 64 bits, and SQLite's sum() fails then. So the halves of amounts are summed
// apart, which takes more than two thousand million of them to overflow.
const highs, lows = `coalesce(sum(amount >> 32), 0)`, `coalesce(sum(amount & 4294967295), 0)`

// wide is a number of more than 64 bits: high·2³² + low, with low from 0 to 2³² − 1.
type wide struct{ high, low int64 }

func widen(n int64) wide { return wideSum(n>>32, n&0xffffffff) }

// wideSum puts the sums of the halves together.
func wideSum(highs, lows int64) wide { return wide{highs + lows>>32, lows & 0xffffffff} }

func (w wide) String() string {
	n := new(big.Int).Lsh(big.NewInt(w.high), 32)
	return n.Add(n, big.NewInt(w.low)).String()
}

func checkAccrued(c *database.Conn, found report) error {
	return c.Query(`
		SELECT a.id, a.points, count(t.id) FROM accruals a LEFT JOIN ledger_transactions t ON t.accrual_id = a.id
		GROUP BY a.id HAVING count(t.id) <> 1`,
		func(r database.Row) error {
			found(audit.Ledger, "accrual "+r.UUID(0).String(), "of %d points has %d ledger transactions", r.Int(1), r.Int(2))
			return nil
		})
}

// checkTransactions: a transaction moves exactly the points of its accrual from [bonus.Issued] to the wallet of its user,
// and nothing else; so its entries sum to zero.
func checkTransactions(c *database.Conn, found report) error {
	return c.Query(`
		SELECT t.id, t.accrual_id, a.user_id, a.points, count(e.account), `+highs+`, `+lows+`
		FROM ledger_transactions t
		LEFT JOIN accruals a ON a.id = t.accrual_id
		LEFT JOIN ledger_entries e ON e.transaction_id = t.id
		GROUP BY t.id
		HAVING a.id IS NULL OR count(e.account) <> 2
			OR max(e.amount) FILTER (WHERE e.account = ? || a.user_id) IS NOT a.points
			OR max(e.amount) FILTER (WHERE e.account = ?) IS NOT -a.points`,
		func(r database.Row) error {
			found(audit.Ledger, "ledger transaction "+r.UUID(0).String(), "%s", transactionFault(r))
			return nil
		}, string(bonus.WalletOf("")), string(bonus.Issued))
}

func transactionFault(r database.Row) string {
	sum := wideSum(r.Int(5), r.Int(6))
	switch {
	case r.Int(4) == 0:
		return "has no entries"
	case sum != widen(0):
		return fmt.Sprintf("sums to %s", sum)
	case r.Null(2):
		return fmt.Sprintf("is for accrual %s, which does not exist", r.UUID(1))
	}
	return fmt.Sprintf("does not give the %d points of accrual %s to user %s alone", r.Int(3), r.UUID(1), r.Text(2))
}

func checkEntries(c *database.Conn, found report) error {
	return c.Query(`
		SELECT e.transaction_id, e.account FROM ledger_entries e LEFT JOIN ledger_transactions t ON t.id = e.transaction_id
		WHERE t.id IS NULL`,
		func(r database.Row) error {
			found(audit.Ledger, "ledger transaction "+r.UUID(0).String(), "does not exist, but account %s has an entry of it", r.Text(1))
			return nil
		})
}

// checkBalances brings both sides of an account together by grouping: SQLite has no index for a full join with sums.
func checkBalances(c *database.Conn, found report) error {
	return c.Query(`
		SELECT account, max(balance), `+highs+`, `+lows+`
		FROM (SELECT account, balance, NULL AS amount FROM balances UNION ALL SELECT account, NULL, amount FROM ledger_entries)
		GROUP BY account`,
		func(r database.Row) error {
			switch sum := wideSum(r.Int(2), r.Int(3)); {
			case r.Null(1):
				found(audit.Ledger, "account "+r.Text(0), "has no balance, but its entries sum to %s", sum)
			case sum != widen(r.Int(1)):
				found(audit.Ledger, "account "+r.Text(0), "has a balance of %d, but its entries sum to %s", r.Int(1), sum)
			}
			return nil
		})
}

// checkAnswers names the caller and not the key, which is nobody else's business.
func checkAnswers(c *database.Conn, found report) error {
	return c.Query(`
		SELECT w.caller, w.accrual_id, w.status, a.id
		FROM accrual_answers w LEFT JOIN accruals a ON a.id = w.accrual_id
		WHERE a.id IS NULL OR w.status NOT IN (200, 201)`,
		func(r database.Row) error {
			if r.Null(3) {
				found(audit.Ledger, "answer to "+r.Text(0), "is about accrual %s, which does not exist", r.UUID(1))
			} else {
				found(audit.Ledger, "answer to "+r.Text(0), "about accrual %s was saved with status %d", r.UUID(1), r.Int(2))
			}
			return nil
		})
}
