package bonus

import (
	"time"

	"github.com/google/uuid"
)

// Account names one side of an entry: [Issued], or a user's wallet.
type Account string

// Issued is the account that points come from. It goes as far below zero as all wallets together are above it.
const Issued Account = "issued"

// WalletOf is the account of a user.
func WalletOf(userID string) Account { return Account("wallet:" + userID) }

// Transaction is a movement of points between accounts. Its entries sum to zero.
type Transaction struct {
	ID        uuid.UUID
	AccrualID uuid.UUID
	At        time.Time
	Entries   []Entry
}

// Entry is one side of a transaction: what its account gains.
type Entry struct {
	Account Account
	Amount  int64
}

// WalletEntry is an entry of a user's wallet with the accrual behind it.
type WalletEntry struct {
	ID     uuid.UUID // of the transaction: a wallet has at most one entry in it
	Amount int64
	Accrual
}
