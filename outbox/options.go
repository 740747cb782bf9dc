package outbox

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
)

// RelayOptions configures a [Relay]. Store and Publisher are required; a zero value elsewhere means the default.
type RelayOptions struct {
	Store     Store
	Publisher Publisher

	Owner string // names this relay in the lease and must be unique among relays; default: a random UUID
	Batch int    // rows read and handed to the publisher at once; default 500

	LeaseTTL   time.Duration // how long the lease outlives its last renewal; default 3 s
	RenewEvery time.Duration // must leave room for a failed try or two inside LeaseTTL; default a third of it

	PollMin time.Duration // wait after a pass that published something; default 50 ms
	PollMax time.Duration // what that wait grows to while nothing comes; default 1 s

	RetryMin time.Duration // first back-off after a failure, of one key or of the store; default 100 ms
	RetryMax time.Duration // what that back-off grows to; default 2 s

	PublishTimeout time.Duration // bound on one call of the publisher; default 10 s
	Grace          time.Duration // what is left of it once Run's context has ended; default 2 s

	Logger  *slog.Logger // default: discards
	Observe Observer

	// Describe names a message in the log beside the id of its row; default: nothing more. Nothing else of a message but
	// event id and topic is ever logged.
	Describe func(m Message) []slog.Attr
}

// Observer is told what a relay does, for metrics. Each function may be nil, is called from the goroutine of
// [Relay.Run], and must not block.
type Observer struct {
	Leased    func(held bool)                                    // the lease was taken, or given up or lost
	Published func(acknowledged, failed int, took time.Duration) // one call of the publisher, and how long it took
	Parked    func(row Row, reason string)                       // a row was moved aside; a person has to look at it
}

func (o RelayOptions) withDefaults() RelayOptions {
	o.Batch = cmp.Or(o.Batch, 500)
	o.LeaseTTL = cmp.Or(o.LeaseTTL, 3*time.Second)
	o.RenewEvery = cmp.Or(o.RenewEvery, o.LeaseTTL/3)
	o.PollMin = cmp.Or(o.PollMin, 50*time.Millisecond)
	o.PollMax = cmp.Or(o.PollMax, time.Second)
	o.RetryMin = cmp.Or(o.RetryMin, 100*time.Millisecond)
	o.RetryMax = cmp.Or(o.RetryMax, 2*time.Second)
	o.PublishTimeout = cmp.Or(o.PublishTimeout, 10*time.Second)
	o.Grace = cmp.Or(o.Grace, 2*time.Second)
	if o.Owner == "" {
		o.Owner = uuid.NewString()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Describe == nil {
		o.Describe = func(Message) []slog.Attr { return nil }
	}
	o.Observe = o.Observe.withDefaults()
	return o
}

func (o Observer) withDefaults() Observer {
	if o.Leased == nil {
		o.Leased = func(bool) {}
	}
	if o.Published == nil {
		o.Published = func(int, int, time.Duration) {}
	}
	if o.Parked == nil {
		o.Parked = func(Row, string) {}
	}
	return o
}

// retry is the back-off after failures. Jitter keeps relays that failed together from coming back together.
func (o RelayOptions) retry() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: o.RetryMin, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: o.RetryMax,
	}
}

// poll is the wait between passes that find nothing.
func (o RelayOptions) poll() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: o.PollMin, Multiplier: 2, MaxInterval: o.PollMax}
}
