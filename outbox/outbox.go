// Package outbox publishes what a transaction decided, after that transaction committed and never before.
//
// A business transaction appends [Message] values to a table of its own database; a [Relay] reads the table and hands
// the rows to a [Publisher]. Guarantee: every committed row is published at least once, rows of one key in the order
// in which they were committed. A row leaves the table only after the publisher acknowledged exactly that row.
//
// Failure model: a crash anywhere repeats rows, it never loses one; a relay whose lease has passed to another may
// repeat old rows once more, so readers must apply each fact idempotently. A row that can never be published is parked
// with its reason instead of blocking the rows of other keys.
//
// What this package does not do: it opens no transaction, knows no database and no broker, and promises nothing about
// the order of rows with different keys. For order within a key, the writer must lock the aggregate before it appends:
// only then does the order of ids equal the order of commits.
package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Message is one fact to be published, as the business transaction states it.
type Message struct {
	EventID uuid.UUID
	Topic   string
	Key     string // rows of one key keep their order; the empty key is a key like any other
	Headers []Header
	Payload []byte // nil stays nil: some brokers read it as a tombstone
}

// Header is one name and value that travel with a message. Order is kept, a name may come twice, and as with a payload a
// nil value stays nil.
type Header struct {
	Key   string
	Value []byte
}

// Row is an appended message under the id that the database gave it.
type Row struct {
	Message
	ID        int64
	CreatedAt time.Time // by the database's clock
}

// Lease is the right of one relay to settle the rows of one database. Epoch grows with each change of hands, and
// deletes and parkings are valid only under the epoch in force.
type Lease struct {
	Owner string
	Epoch int64
}

// Store is the table behind an outbox. Implementations hold no rules; package outboxtest has the suite that each of
// them passes. Every comparison of time is made by the database's clock.
type Store interface {
	// Acquire takes the lease for ttl if nobody holds it or the holder's time is over; ok is false if somebody does, be
	// it owner itself. A ttl of 0 or less has run out at once.
	Acquire(ctx context.Context, owner string, ttl time.Duration) (lease Lease, ok bool, err error)
	// Renew extends a lease that is still held, else it returns [ErrLeaseLost].
	Renew(ctx context.Context, lease Lease, ttl time.Duration) error
	// Release gives a lease up at once; a lease lost already is no error.
	Release(ctx context.Context, lease Lease) error
	// Pending returns up to limit rows with an id above after, ascending. A pass over the table starts at 0: an id is a
	// name here, not a watermark, since a lower id may commit later.
	Pending(ctx context.Context, after int64, limit int) ([]Row, error)
	// Delete removes published rows, or returns [ErrLeaseLost] and removes nothing. Rows that are gone are no error: the
	// answer to an earlier try may have been lost.
	Delete(ctx context.Context, lease Lease, ids []int64) error
	// Park moves a row that can't be published aside with its reason, or returns [ErrLeaseLost] and moves nothing. A
	// row that is gone is no error.
	Park(ctx context.Context, lease Lease, id int64, reason string) error
	// Depth counts what waits and what is parked.
	Depth(ctx context.Context) (Depth, error)
}

// Depth is the state of an outbox: waiting rows, the age of the oldest by the database's clock, and parked rows.
type Depth struct {
	Waiting   int64
	OldestAge time.Duration
	Parked    int64
}

// Publisher sends rows to a broker in the order given and reports for each row whether the broker acknowledged it
// (nil), in a slice as long as rows. It must return when ctx ends. A row that can never be sent is reported with an
// error for which errors.Is(err, [ErrUnpublishable]) holds. After a failed row it must not acknowledge a later row of
// the same key.
type Publisher interface {
	Publish(ctx context.Context, rows []Row) []error
}

var (
	// ErrLeaseLost says that another relay settles this database's rows now.
	ErrLeaseLost = errors.New("outbox lease lost")
	// ErrUnpublishable says that trying a row again is useless: too large, or refused as malformed.
	ErrUnpublishable = errors.New("unpublishable message")
)
