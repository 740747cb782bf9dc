package broker

import (
	"context"
	"errors"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/batch"
	"kuhnya/consume"
	"kuhnya/internal/database"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/outbox"
)

// ErrNoConcern says of a record that its reader understands what it is and has nothing to do for it.
var ErrNoConcern = errors.New("record of no concern")

// ApplyAll decodes the records of a poll and hands those that are understood, in their order, to apply, all at once.
// It returns a result per record, as a [consume.Handler] does: records that can't be decoded have their error, records
// of a type that nobody here knows are [consume.ErrUnknown], which their consumer passes over and counts, and those of no
// concern to this reader have none.
func ApplyAll[Command any](records []*kgo.Record, decode func(*kgo.Record) (Command, error), apply func([]Command) []error) []error {
	results := make([]error, len(records))
	var commands []Command
	var at []int
	for i, r := range records {
		command, err := decode(r)
		switch {
		case err == nil:
			commands, at = append(commands, command), append(at, i)
		case errors.Is(err, event.ErrUnknownType):
			results[i] = consume.ErrUnknown
		case !errors.Is(err, ErrNoConcern):
			results[i] = err
		}
	}
	for i, err := range apply(commands) {
		results[at[i]] = err
	}
	return results
}

// Headers returns a record's headers in the form that envelopes are read from.
func Headers(r *kgo.Record) []outbox.Header {
	headers := make([]outbox.Header, len(r.Headers))
	for i, h := range r.Headers {
		headers[i] = outbox.Header(h)
	}
	return headers
}

// Describe names the order and the trace of a record, as [event.Describe] does for messages.
func Describe(r *kgo.Record) []slog.Attr {
	return event.Describe(outbox.Message{Key: string(r.Key), Headers: Headers(r)})
}

// Classify judges the error of a record for its consumer: refusals never pass, trouble with database or broker does.
func Classify(err error) (class consume.Class, code string) {
	switch code := fault.CodeOf(err); code {
	case "":
	case fault.RequestInProgress, fault.TooManyRequests, fault.PublishFailed, fault.Unavailable, fault.OutcomeUnknown:
		return consume.Transient, string(code)
	case fault.Internal:
		return consume.Unclassified, string(code)
	default:
		return consume.Domain, string(code)
	}
	switch {
	case errors.Is(err, event.ErrInvalid):
		return consume.Domain, string(fault.InvalidRequest)
	case Transient(err):
		return consume.Transient, ""
	}
	return consume.Unclassified, ""
}

// Transient says that the same work may succeed later, unchanged: the database, a queue or a deadline stood in its way.
func Transient(err error) bool {
	for _, passing := range []error{
		batch.ErrQueueFull, batch.ErrClosed, batch.ErrNotCommitted, batch.ErrOutcomeUnknown, context.DeadlineExceeded, context.Canceled,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return database.Transient(err)
}
