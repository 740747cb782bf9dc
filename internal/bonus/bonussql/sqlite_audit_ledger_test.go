package bonussql_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kuhnya/internal/audit"
)

// entry is one more entry of the transaction, without its balance.
func entry(account string, amount int64) string {
	return fmt.Sprintf(`INSERT INTO ledger_entries VALUES (%s, '%s', %d);`, theTransaction, account, amount)
}

// change is of the transaction's entries of an account.
func change(account, set string) string {
	return `UPDATE ledger_entries SET ` + set + ` WHERE account = '` + account + `' AND transaction_id = ` + theTransaction + `;`
}

func TestViolations_of_the_ledger(t *testing.T) {
	withoutEntries := `DELETE FROM ledger_entries WHERE transaction_id = ` + theTransaction + `;`
	check(t, map[string]planted{
		"a balance of nothing without entries": {sql: `INSERT INTO balances VALUES ('wallet:eve', 0)`},
		"an accrual without transaction": {
			withoutEntries + `DELETE FROM ledger_transactions WHERE accrual_id = ` + theAccrual + `;` + balanced,
			audit.Ledger, "accrual ", "of 22 points has 0 ledger transactions",
		},
		"an accrual with two transactions": {
			`CREATE TABLE copy (id BLOB PRIMARY KEY, accrual_id BLOB NOT NULL, at INTEGER NOT NULL) STRICT;
				INSERT INTO copy SELECT * FROM ledger_transactions; DROP TABLE ledger_transactions; ALTER TABLE copy RENAME TO ledger_transactions;
				INSERT INTO ledger_entries SELECT x'bb', account, amount FROM ledger_entries WHERE transaction_id = ` + theTransaction + `;
				INSERT INTO ledger_transactions VALUES (x'bb', ` + theAccrual + `, 0);` + balanced,
			audit.Ledger, "accrual ", "of 22 points has 2 ledger transactions",
		},
		"a transaction of no accrual": {
			`INSERT INTO ledger_transactions VALUES (x'bb', x'aa', 0);
				INSERT INTO ledger_entries VALUES (x'bb', 'issued', -5), (x'bb', 'wallet:eve', 5);` + balanced,
			audit.Ledger, "ledger transaction bb", "is for accrual aa",
		},
		"a transaction of no accrual between wallets": {
			`INSERT INTO ledger_transactions VALUES (x'bb', x'aa', 0);
				INSERT INTO ledger_entries VALUES (x'bb', 'wallet:alice', -5), (x'bb', 'wallet:eve', 5);` + balanced,
			audit.Ledger, "ledger transaction bb", "is for accrual aa",
		},
		"a transaction without entries": {
			withoutEntries + balanced, audit.Ledger, "ledger transaction ", "has no entries",
		},
		"a transaction that makes a point": {
			change("issued", "amount = -21") + balanced, audit.Ledger, "ledger transaction ", "sums to 1",
		},
		"a transaction that makes more points than 64 bits hold": {
			entry("wallet:eve", math.MaxInt64) + entry("wallet:ivan", math.MaxInt64) + balanced,
			audit.Ledger, "ledger transaction ", "sums to 18446744073709551614",
		},
		"a transaction that loses more points than 64 bits hold": {
			entry("wallet:eve", math.MinInt64) + entry("wallet:ivan", math.MinInt64) + balanced,
			audit.Ledger, "ledger transaction ", "sums to -18446744073709551616",
		},
		"a transaction that gives other points": {
			change("issued", "amount = -21") + change("wallet:alice", "amount = 21") + balanced,
			audit.Ledger, "ledger transaction ", "does not give the 22 points",
		},
		"a transaction that gives to another user": {
			change("wallet:alice", "account = 'wallet:eve'") + balanced, audit.Ledger, "ledger transaction ", "to user alice alone",
		},
		"a transaction that gives to another user, too": {
			change("issued", "amount = -27") + entry("wallet:eve", 5) + balanced, audit.Ledger, "ledger transaction ", "to user alice alone",
		},
		"a transaction that passes points on": {
			entry("wallet:eve", 5) + entry("wallet:ivan", -5) + balanced, audit.Ledger, "ledger transaction ", "to user alice alone",
		},
		"a transaction that takes from a user": {
			change("issued", "account = 'wallet:eve'") + balanced, audit.Ledger, "ledger transaction ", "to user alice alone",
		},
		"an entry of no transaction": {
			`INSERT INTO ledger_entries VALUES (x'bb', 'wallet:eve', 5);` + balanced, audit.Ledger, "ledger transaction bb", "account wallet:eve",
		},
		"a balance out of nowhere": {
			`INSERT INTO balances VALUES ('wallet:eve', 5)`, audit.Ledger, "account wallet:eve", "has a balance of 5, but its entries sum to 0",
		},
		"a balance that missed an entry": {
			`UPDATE balances SET balance = balance - 22 WHERE account = 'wallet:alice'`,
			audit.Ledger, "account wallet:alice", "has a balance of 0, but its entries sum to 22",
		},
		"a balance that is off by 2³²": {
			`UPDATE balances SET balance = balance + (1 << 32) WHERE account = 'wallet:alice'`,
			audit.Ledger, "account wallet:alice", "has a balance of 4294967318, but its entries sum to 22",
		},
		"entries without balance": {
			`DELETE FROM balances WHERE account = 'issued'`, audit.Ledger, "account issued", "has no balance, but its entries sum to -129",
		},
		"an answer about nothing": {
			`INSERT INTO accrual_answers VALUES ('service:erp', 'secret-3', x'', x'aa', 201, x'', 0)`,
			audit.Ledger, "answer to service:erp", "is about accrual aa",
		},
		"an answer with another status": {
			`UPDATE accrual_answers SET status = 409 WHERE status = 200`, audit.Ledger, "answer to service:erp", "was saved with status 409",
		},
	})
}

// TestViolations_of_a_balance_that_left_64_bits: nothing overflows on the way to its sum.
func TestViolations_of_a_balance_that_left_64_bits(t *testing.T) {
	db, store := soundBonus(t)
	plant(t, db, fmt.Sprintf(`INSERT INTO ledger_entries SELECT id, 'wallet:eve', %d FROM ledger_transactions;
		INSERT INTO balances VALUES ('wallet:eve', %[1]d - 2)`, math.MaxInt64)) // what three times as much would be, cut to 64 bits
	violations, err := store.Violations(t.Context())
	must(t, err)
	want := "account wallet:eve: has a balance of 9223372036854775805, but its entries sum to 27670116110564327421"
	if !strings.Contains(fmt.Sprint(violations), want) {
		t.Errorf("violations %v, want %s", violations, want)
	}
}

func TestViolations_keep_the_keys_of_clients_to_themselves(t *testing.T) {
	db, store := soundBonus(t)
	plant(t, db, `UPDATE accrual_answers SET status = 409`)
	violations, err := store.Violations(t.Context())
	must(t, err)
	if text := fmt.Sprint(violations); len(violations) != 2 || strings.Contains(text, "secret") {
		t.Error(text)
	}
}
