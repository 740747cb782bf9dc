package bonus

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/outbox"
)

// Store is bonus's database. Its methods take and return sets, so that a batch of commands costs as many round trips as
// one command.
type Store interface {
	Reader
	// Write runs f in one transaction. It commits if f returns nil, else nothing of it remains. f may run again after
	// an error of the class batch.Again or batch.Busy, so it keeps no state from a run before.
	Write(ctx context.Context, f func(Tx) error) error
}

// Tx is what rules may do inside one write transaction.
type Tx interface {
	Clock
	AccruingTx
	EvaluatingTx
	CampaignTx
}

// Clock is the database's clock: the only one by which versions of campaigns come into force.
type Clock interface {
	Now() (time.Time, error)
}

// CallerKey names a request by its client's key. The caller is part of it: a key of one caller means nothing for another.
type CallerKey struct {
	Caller string // as in audit trails: "service:erp"
	Key    idempotency.Key
}

// AccruingTx is what accruals need, wherever they come from.
type AccruingTx interface {
	// AnswersByKey returns the answers that were saved under the keys.
	AnswersByKey(keys []CallerKey) (map[CallerKey]Answer, error)
	// AccrualsByBusinessKey returns the accruals that exist under the business keys.
	AccrualsByBusinessKey(keys []BusinessKey) (map[BusinessKey]Accrual, error)
	// KnownCampaigns returns those of the ids that name a campaign.
	KnownCampaigns(ids []uuid.UUID) (map[uuid.UUID]bool, error)
	// InsertAccruals inserts accruals, and leaves out those that lost a unique index to another transaction. It returns
	// the ids that it inserted; only those exist.
	InsertAccruals(accruals []Accrual) ([]uuid.UUID, error)
	// InsertAnswers inserts saved answers, and leaves out those whose key was lost to another transaction. It returns the
	// keys that it inserted.
	InsertAnswers(answers []Answer) ([]CallerKey, error)
	// InsertTransactions inserts ledger transactions with their entries.
	InsertTransactions(transactions []Transaction) error
	// AddBalances adds to the balances of accounts, in the order of their names, and makes those that are not there. A
	// balance that would leave 64 bits is an error that wraps money.ErrOverflow.
	AddBalances(amounts map[Account]int64) error
	AppendOutbox(messages []outbox.Message) error
}

// EvaluatingTx is what evaluating completed orders needs beyond accruing.
type EvaluatingTx interface {
	// InsertEvaluations inserts evaluations, and leaves out those of orders that another transaction, or an earlier one,
	// has evaluated. It returns the order ids that it inserted; only those are to be decided here.
	InsertEvaluations(evaluations []Evaluation) ([]uuid.UUID, error)
	// InsertEvaluationLines stores what was decided about the orders whose evaluations this transaction inserted.
	InsertEvaluationLines(evaluations []Evaluation) error
	// Versions returns the versions of all campaigns that were in force at some moment of a time, both ends included: what
	// a busy campaign was before and became after is not read for each order.
	Versions(from, until time.Time) ([]Version, error)
}

// CampaignTx is what keeping campaigns needs.
type CampaignTx interface {
	// CampaignByKey returns the campaign that was created under a key, with its newest version.
	CampaignByKey(key CallerKey) (Campaign, bool, error)
	// LockCampaign locks the campaign until the transaction ends, and returns it with its newest version.
	LockCampaign(id uuid.UUID) (Campaign, bool, error)
	// InsertCampaign inserts a campaign with its first version; false if its id or its key was lost to another transaction.
	InsertCampaign(c Campaign) (bool, error)
	// InsertVersion adds a version to a campaign that is locked.
	InsertVersion(v Version) error
}

// Reader answers questions from one snapshot each.
type Reader interface {
	// Answer returns the answer that was saved under a key.
	Answer(ctx context.Context, key CallerKey) (Answer, bool, error)
	Campaign(ctx context.Context, id uuid.UUID) (Campaign, bool, error)
	// Campaigns returns up to limit campaigns, newest first, older than before (uuid.Nil: all).
	Campaigns(ctx context.Context, before uuid.UUID, limit int) ([]Campaign, error)
	// Balance is what a user has; 0 for one that nobody knows.
	Balance(ctx context.Context, userID string) (int64, error)
	// Entries returns up to limit entries of a user's account, newest first, older than before (uuid.Nil: all).
	Entries(ctx context.Context, userID string, before uuid.UUID, limit int) ([]WalletEntry, error)
}
