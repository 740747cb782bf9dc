package bonussql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"kuhnya/internal/bonus"
	"kuhnya/internal/database"
	"kuhnya/internal/money"
)

// InsertTransactions implements [bonus.AccruingTx].
func (t sqliteTx) InsertTransactions(transactions []bonus.Transaction) error {
	for _, m := range transactions {
		if err := t.Exec(`INSERT INTO ledger_transactions (id, accrual_id, at) VALUES (?, ?, ?)`, m.ID, m.AccrualID, m.At); err != nil {
			return err
		}
		for _, e := range m.Entries {
			err := t.Exec(`INSERT INTO ledger_entries (transaction_id, account, amount) VALUES (?, ?, ?)`, m.ID, string(e.Account), e.Amount)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// AddBalances implements [bonus.AccruingTx]. A sum beyond 64 bits becomes a floating-point number, which the column of
// a STRICT table refuses.
func (t sqliteTx) AddBalances(amounts map[bonus.Account]int64) error {
	for _, account := range slices.Sorted(maps.Keys(amounts)) {
		err := t.Exec(`INSERT INTO balances (account, balance) VALUES (?, ?)
			ON CONFLICT (account) DO UPDATE SET balance = balance + excluded.balance`, string(account), amounts[account])
		if errors.Is(err, database.ErrConstraint) {
			return fmt.Errorf("%w: %w", money.ErrOverflow, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Balance implements [bonus.Reader].
func (s SQLite) Balance(ctx context.Context, userID string) (balance int64, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT balance FROM balances WHERE account = ?`, func(r database.Row) error {
			balance = r.Int(0)
			return nil
		}, string(bonus.WalletOf(userID)))
	})
	return balance, err
}

// Entries implements [bonus.Reader].
func (s SQLite) Entries(ctx context.Context, userID string, before uuid.UUID, limit int) (entries []bonus.WalletEntry, err error) {
	if before == uuid.Nil {
		before = uuid.Max
	}
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT t.id, e.amount, `+accrualColumns+`
			FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id JOIN accruals a ON a.id = t.accrual_id
			WHERE e.account = ? AND e.transaction_id < ? ORDER BY e.transaction_id DESC LIMIT ?`,
			func(r database.Row) error {
				entries = append(entries, bonus.WalletEntry{ID: r.UUID(0), Amount: r.Int(1), Accrual: scanAccrual(r, 2)})
				return nil
			}, string(bonus.WalletOf(userID)), before, limit)
	})
	return entries, err
}
