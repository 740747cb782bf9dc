package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"
)

// maxReason bounds the reason stored with a parked row, in bytes.
const maxReason = 512

// verdict is what a publisher's answer means for each row of a batch.
type verdict struct {
	acked  []Row
	failed []failure // to be tried again
	parked []failure // not to be tried again
}

type failure struct {
	row Row
	err error
}

// judge sorts rows by the publisher's answer. An answer that doesn't have one entry for each row proves nothing about
// any of them.
func judge(rows []Row, errs []error) verdict {
	if len(errs) != len(rows) {
		return failAll(rows, fmt.Errorf("publisher answered for %d of %d rows", len(errs), len(rows)))
	}
	var v verdict
	for i, row := range rows {
		switch err := errs[i]; {
		case err == nil:
			v.acked = append(v.acked, row)
		case errors.Is(err, ErrUnpublishable):
			v.parked = append(v.parked, failure{row, err})
		default:
			v.failed = append(v.failed, failure{row, err})
		}
	}
	return v
}

func failAll(rows []Row, err error) verdict {
	var v verdict
	for _, row := range rows {
		v.failed = append(v.failed, failure{row, err})
	}
	return v
}

// settle makes the table follow a verdict, and returns how many rows left it.
func (t *tenure) settle(v verdict) (int, error) {
	ctx, cancel := linger(t.held, settleGrace)
	defer cancel()
	if err := t.remove(ctx, v.acked); err != nil {
		return 0, err
	}
	gone := len(v.acked)
	t.holds.clear(v.acked)
	for _, f := range v.parked {
		if t.park(ctx, f) {
			gone++
		}
	}
	t.backOff(v.failed, gone)
	return gone, nil
}

// remove deletes exactly the acknowledged rows. It insists: until it succeeds every further pass would only publish the
// same rows again, and nothing else can be settled either.
func (t *tenure) remove(ctx context.Context, acked []Row) error {
	ids := make([]int64, len(acked))
	for i, row := range acked {
		ids[i] = row.ID
	}
	retry := t.o.retry()
	for len(ids) > 0 {
		err := t.o.Store.Delete(ctx, t.lease, ids)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrLeaseLost):
			t.lose(err)
			return err
		case ctx.Err() != nil, t.lost():
			return fmt.Errorf("delete %d published rows: %w", len(ids), err)
		}
		t.o.Logger.WarnContext(ctx, "published outbox rows not deleted", "rows", len(ids), "error", err)
		sleep(ctx, retry.NextBackOff())
	}
	return nil
}

// park moves a row aside. If the store refuses, the row stays and is tried again like any other that failed.
func (t *tenure) park(ctx context.Context, f failure) bool {
	reason := reasonOf(f.err)
	log := t.logOf(f.row)
	switch err := t.o.Store.Park(ctx, t.lease, f.row.ID, reason); {
	case err == nil:
		log.ErrorContext(ctx, "outbox row parked", "reason", reason)
		t.o.Observe.Parked(f.row, reason)
		return true
	case errors.Is(err, ErrLeaseLost):
		t.lose(err)
	default:
		t.holds.fail(f.row)
		log.WarnContext(ctx, "outbox row not parked", "error", err)
	}
	return false
}

// backOff holds the failed keys back. If nothing of several keys went through, the fault is the broker's rather than a
// row's, and the relay waits as well before it tries keys that have not failed yet.
func (t *tenure) backOff(failed []failure, gone int) {
	if gone > 0 {
		t.outage.Reset()
	}
	if len(failed) == 0 {
		return
	}
	keys := 0
	for _, f := range failed {
		if t.holds.fail(f.row) {
			keys++
		}
	}
	t.logOf(failed[0].row).WarnContext(t.held, "outbox rows not published",
		"rows", len(failed), "keys", keys, "error", failed[0].err)
	if gone == 0 && keys > 1 {
		t.sleep(t.outage.NextBackOff())
	}
}

// logOf is the log with what names a row.
func (t *tenure) logOf(row Row) *slog.Logger {
	attrs := []slog.Attr{slog.Any("event_id", row.EventID), slog.String("topic", row.Topic), slog.Int64("outbox_id", row.ID)}
	return slog.New(t.o.Logger.Handler().WithAttrs(append(attrs, t.o.Describe(row.Message)...)))
}

// reasonOf is err's text as any database can store it: valid UTF-8 without NUL, cut between two characters.
func reasonOf(err error) string {
	reason := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "\uFFFD"), "\x00", "\uFFFD")
	if len(reason) <= maxReason {
		return reason
	}
	cut := maxReason
	for !utf8.RuneStart(reason[cut]) {
		cut--
	}
	return reason[:cut]
}
