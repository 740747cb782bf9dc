package consume

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Handler applies records of one partition, given in the order of their offsets, and returns a slice as long as
// records: nil says that the record's effect is committed, or that there is none to make (a repeat, or a record of no
// concern); [ErrUnknown] that the handler doesn't know what the record is; any other error says why not, and is judged
// by [Options.Classify].
//
// A result counts only if all results before it are nil, [ErrUnknown] or domain errors. From the first transient or
// unclassified error on, the records are handed over again, so applying a record twice must be harmless. ctx ends when the consumer
// has waited [Options.Grace] for a call it wants to end; the handler must then return soon. A handler must not change
// the records. Calls for different partitions run at the same time.
type Handler func(ctx context.Context, records []*kgo.Record) []error

// ErrUnknown is a handler's result for a record of a kind that it doesn't know, which is meant for others then. The
// record is settled, and told to [Events.Unknown].
var ErrUnknown = errors.New("record of an unknown kind")

// Class says what becomes of a record that the handler returned an error for.
type Class int

const (
	// Unclassified errors are tried five times; then the record is a dead letter with the code [CodeInternal].
	Unclassified Class = iota
	// Transient errors pass: the record is tried again until it succeeds.
	Transient
	// Domain errors never pass: the record becomes a dead letter at once.
	Domain
)

// CodeInternal is the code of a dead letter whose error nobody classified, or whose handler panicked.
const CodeInternal = "internal"

// Options configures a [Consumer]. Group, Topics, Handler and DeadLetters are required.
type Options struct {
	// Group is the consumer group, and a part of each dead letter's identity.
	Group string
	// Topics are the topics to read, from their earliest record where the group has no offset.
	Topics []string
	// ClientOptions reach the brokers: seeds, dialer, credentials. They may replace this package's time-outs; what the
	// guarantee rests on (manual commits, blocked rebalances, start at the earliest record) they can't.
	ClientOptions []kgo.Opt
	// DeadLetterOptions reach the brokers for the separate client that publishes dead letters.
	DeadLetterOptions []kgo.Opt

	// Handler applies the records.
	Handler Handler
	// Classify judges a handler's error and names a domain error for people and programs. Absent: all are Unclassified.
	Classify func(error) (class Class, code string)
	// DeadLetters keeps dead letters whole.
	DeadLetters DeadLetterStore
	// DeadLetterTopic names the dead-letter topic of a source topic; default "<topic>.<group>.dlq". The topic must exist.
	DeadLetterTopic func(topic string) string
	// MaxMessageBytes is the max.message.bytes of the dead-letter topics; default 1 048 588, Kafka's own. A dead letter
	// above it, or above what the broker takes, is published without its value.
	MaxMessageBytes int32

	// BatchSize bounds the records of one handler call; default 256.
	BatchSize int
	// RetryMin and RetryMax bound the back-off: the n-th wait is drawn evenly from 0 to RetryMin·2ⁿ, at most RetryMax.
	// Defaults 100 ms and 10 s.
	RetryMin, RetryMax time.Duration
	// Grace is how long a running handler call may go on when its partition is revoked or the consumer stops, before
	// its context ends; default 5 s.
	Grace time.Duration
	// CommitTimeout bounds one commit, and the last commit together with leaving the group; default 3 s.
	CommitTimeout time.Duration

	// Logger receives what a person may want to know; default: nothing is logged. Keys, values and headers of records are
	// never logged, except what Describe makes of them.
	Logger *slog.Logger
	// Describe names a record in the log beside its place; default: nothing more.
	Describe func(r *kgo.Record) []slog.Attr
	// Events are called as things happen; all are optional.
	Events Events
}

// defaultMaxMessageBytes is Kafka's message.max.bytes; the client's own default is lower.
const defaultMaxMessageBytes = 1_048_588

func (o *Options) check() error {
	switch {
	case o.Group == "":
		return errors.New("consume: no group")
	case len(o.Topics) == 0:
		return errors.New("consume: no topics")
	case o.Handler == nil:
		return errors.New("consume: no handler")
	case o.DeadLetters == nil:
		return errors.New("consume: no dead-letter store")
	}
	return nil
}

func (o *Options) fill() {
	fallback(&o.MaxMessageBytes, defaultMaxMessageBytes)
	fallback(&o.BatchSize, 256)
	fallback(&o.RetryMin, 100*time.Millisecond)
	fallback(&o.RetryMax, 10*time.Second)
	fallback(&o.Grace, 5*time.Second)
	fallback(&o.CommitTimeout, 3*time.Second)
	if o.Classify == nil {
		o.Classify = func(error) (Class, string) { return Unclassified, "" }
	}
	if o.DeadLetterTopic == nil {
		group := o.Group
		o.DeadLetterTopic = func(topic string) string { return topic + "." + group + ".dlq" }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Describe == nil {
		o.Describe = func(*kgo.Record) []slog.Attr { return nil }
	}
	o.Events.fill()
}

func fallback[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}
