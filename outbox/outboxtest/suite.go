// Package outboxtest proves that an implementation of [outbox.Store] keeps its promises.
//
// [Run] is the suite; each engine calls it from a test of its own with a [Fixture] over an empty database. It covers
// what a relay depends on: rows come back as they were appended, an id is never used again, and nobody settles rows
// without the lease in force. It does not measure speed, and it proves nothing about crashes of the database itself.
//
// [Memory] is an implementation for tests of what is built on an outbox.
package outboxtest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/outbox"
)

// Fixture is a store over an empty table, with what a test must be able to do to it from outside.
type Fixture struct {
	Store outbox.Store

	// Append commits messages in one transaction, in this order.
	Append func(ctx context.Context, messages ...outbox.Message) error

	// Begin starts a transaction; two of them must be able to be open at once. It is nil for an engine with one writer at
	// a time, where ids can't become visible out of order.
	Begin func(ctx context.Context) (Tx, error)

	// Parked returns the parked rows in the order of their ids.
	Parked func(ctx context.Context) ([]Parked, error)
}

// Tx is a transaction that appends to the outbox.
type Tx interface {
	Append(ctx context.Context, messages ...outbox.Message) error
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error
}

// Parked is a row that was moved aside, and why.
type Parked struct {
	Row    outbox.Row
	Reason string
}

// Run checks every promise of [outbox.Store], each on a table of its own that open provides. open registers what must be
// closed with [testing.T.Cleanup].
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	suite := []struct {
		name string
		test func(*testing.T, Fixture)
	}{
		{"keeps_a_message_as_it_was", keepsMessages},
		{"keeps_a_large_payload", keepsLarge},
		{"pages_by_id", pages},
		{"never_uses_an_id_again", neverReusesIDs},
		{"shows_a_lower_id_that_commits_later", lateCommit},
		{"forgets_what_is_rolled_back", rollback},
		{"deletes_exactly_what_it_is_told", deletes},
		{"deletes_many_at_once", deletesMany},
		{"parks_a_row_with_its_reason", parks},
		{"counts_what_waits", depth},
		{"refuses_a_lease_that_is_held", refusesHeld},
		{"passes_a_lease_that_ran_out", passesExpired},
		{"passes_a_released_lease", passesReleased},
		{"gives_a_lease_to_one_of_many", oneWinner},
		{"refuses_a_stale_epoch", refusesStale},
		{"refuses_anothers_name", refusesForeign},
		{"ignores_a_stale_release", ignoresStaleRelease},
		{"serves_a_relay", servesRelay},
	}
	for _, c := range suite {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// long is a time to live that no test outlasts.
const long = time.Hour

// message makes a plain message.
func message(key, payload string) outbox.Message {
	return outbox.Message{
		EventID: uuid.Must(uuid.NewV7()), Topic: "orders", Key: key,
		Headers: []outbox.Header{{Key: "ce_type", Value: []byte("order.placed.v1")}}, Payload: []byte(payload),
	}
}

func (f Fixture) append(t *testing.T, messages ...outbox.Message) {
	t.Helper()
	if err := f.Append(t.Context(), messages...); err != nil {
		t.Fatalf("append %d messages: %v", len(messages), err)
	}
}

func (f Fixture) pending(t *testing.T, after int64, limit int) []outbox.Row {
	t.Helper()
	rows, err := f.Store.Pending(t.Context(), after, limit)
	if err != nil {
		t.Fatalf("pending after %d: %v", after, err)
	}
	return rows
}

// payloads is what waits, in order.
func (f Fixture) payloads(t *testing.T) []string {
	t.Helper()
	var payloads []string
	for _, row := range f.pending(t, 0, 10_000) {
		payloads = append(payloads, string(row.Payload))
	}
	return payloads
}

func (f Fixture) acquire(t *testing.T, owner string, ttl time.Duration) outbox.Lease {
	t.Helper()
	lease, ok, err := f.Store.Acquire(t.Context(), owner, ttl)
	if err != nil || !ok {
		t.Fatalf("acquire for %s: ok %v, error %v; want the lease", owner, ok, err)
	}
	if lease.Owner != owner {
		t.Fatalf("acquire for %s: lease of %q", owner, lease.Owner)
	}
	return lease
}

func (f Fixture) depth(t *testing.T) outbox.Depth {
	t.Helper()
	d, err := f.Store.Depth(t.Context())
	if err != nil {
		t.Fatalf("depth: %v", err)
	}
	return d
}

func ids(rows []outbox.Row) []int64 {
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}
