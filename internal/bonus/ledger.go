package bonus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/money"
	"kuhnya/outbox"
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

// accrualIDs are the ids of an accrual and of what belongs to it.
type accrualIDs struct{ accrual, transaction, fact uuid.UUID }

func newIDs() accrualIDs { return accrualIDs{newID(), newID(), newID()} }

// booking is the accruals of one transaction with all that belongs to them. Whatever decides that there is an accrual,
// it is written here and nowhere else.
type booking struct {
	service      *Service
	total        int64 // of the points
	accruals     []Accrual
	transactions []Transaction
	balances     map[Account]int64 // what they gain
	messages     []outbox.Message
}

// add books an accrual, or nothing of it if it can't be booked.
func (b *booking) add(a Accrual, ids accrualIDs, traceparent string) error {
	// No account moves by more than the total does.
	total, err := money.Add(b.total, a.Points)
	if err != nil {
		return err
	}
	message, err := b.service.accruedMessage(a, ids.fact, traceparent)
	if err != nil {
		return err
	}
	t := Transaction{ID: ids.transaction, AccrualID: a.ID, At: a.CreatedAt, Entries: entriesOf(a)}
	if b.balances == nil {
		b.balances = map[Account]int64{}
	}
	for _, e := range t.Entries {
		b.balances[e.Account] += e.Amount
	}
	b.total = total
	b.accruals = append(b.accruals, a)
	b.transactions = append(b.transactions, t)
	b.messages = append(b.messages, message)
	return nil
}

// entriesOf is double entry: what a wallet gains was issued.
func entriesOf(a Accrual) []Entry {
	return []Entry{{Issued, -a.Points}, {WalletOf(a.UserID), a.Points}}
}

// takeBusinessKeys inserts the accruals. The unique index has the last word about business keys: the rows that the
// insert returns are the accruals that exist, and if one is missing another transaction was first.
func (b *booking) takeBusinessKeys(tx AccruingTx) error {
	if len(b.accruals) == 0 {
		return nil
	}
	inserted, err := tx.InsertAccruals(byBusinessKey(b.accruals))
	if err != nil {
		return fmt.Errorf("insert %d accruals: %w", len(b.accruals), err)
	}
	if len(inserted) < len(b.accruals) {
		return ErrLostKey
	}
	return nil
}

// post writes what follows from the accruals, in their transaction: entries, balances and messages. It comes after all
// keys are taken, since every transaction meets the balance of [Issued].
func (b *booking) post(tx AccruingTx) error {
	if len(b.accruals) == 0 {
		return nil
	}
	if err := tx.InsertTransactions(b.transactions); err != nil {
		return fmt.Errorf("insert ledger transactions: %w", err)
	}
	if err := tx.AddBalances(b.balances); err != nil {
		return fmt.Errorf("add to balances: %w", err)
	}
	return tx.AppendOutbox(b.messages)
}

// earned is the points booked for each of the evaluated orders.
func (b *booking) earned(evaluations []Evaluation) map[uuid.UUID]int64 {
	points := map[uuid.UUID]int64{}
	for _, e := range evaluations {
		points[e.OrderID] = 0
	}
	for _, a := range b.accruals {
		points[a.OrderID] += a.Points
	}
	return points
}

// byBusinessKey sorts accruals so that two batches with the same keys insert them in the same order and can't deadlock.
func byBusinessKey(accruals []Accrual) []Accrual {
	return slices.SortedFunc(slices.Values(accruals), func(a, b Accrual) int {
		return cmp.Or(strings.Compare(a.UserID, b.UserID), compareIDs(a.CampaignID, b.CampaignID), compareIDs(a.OrderID, b.OrderID))
	})
}

func compareIDs(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }
