// Package batch is group commit for any store.
//
// A commit costs far more than the rows it carries. Requests that arrive while the previous commit is in flight are
// therefore applied together by one call of an [Apply] function, in one transaction. Nothing lingers to collect
// company: a lone request starts at once, and batches form only because a commit is under way.
//
// Guarantee: every admitted request is decided exactly once, and a refusal never harms its neighbours. With one worker
// the order of admission is the order of decision. What one [Group.DoAll] call hands over is decided in order with any
// number of workers, and nothing behind a failed run is run before the caller has seen the failure.
//
// Failure model: an error of [Apply] means that nothing of the batch was committed, unless its [Class] is [Unknown].
// Conflicts and busy databases are run again; an error that one request can cause, and a panic, is narrowed down to that
// request by running the batch one by one; a broken store fails the whole batch at once. A commit without an answer is
// never run again: [Options.Resolve] asks what became of it. A request's own answer comes back as it is; a failure that
// says nothing about the request is a [*RunError].
//
// What this package does not do: it keeps nothing beyond the process, so a crash forgets what was not committed; it
// knows no keys, and two equal requests are two requests (the store's unique indexes decide that); it has no
// priorities, and a request that was admitted can't be called back.
package batch

import (
	"context"
	"time"
)

// Outcome is the decision about one request: a value, or the refusal as Err.
type Outcome[Res any] struct {
	Value Res
	Err   error
}

// Apply decides reqs in order in one transaction and returns one outcome for each. An error means that nothing of it
// was committed, or that this is not known; [Options.Classify] tells which. Apply must leave reqs as they are, since it
// may be given them again, and must roll back when it panics. Its ctx is the group's own and ends when
// [Group.Close] loses patience; no request's context reaches it.
type Apply[Req, Res any] func(ctx context.Context, reqs []Req) ([]Outcome[Res], error)

// Class is what an error of [Apply] says about the batch.
type Class int

const (
	// Failed is a store that can't work now: connection, full disk, I/O. The whole batch fails at once.
	Failed Class = iota
	// Again is a known rollback by conflict: serialization, deadlock, lock time-out, a key lost to a rival. The whole
	// batch runs again, three times in all, then one by one.
	Again
	// Busy is a database that another writer holds. The batch runs again until the deadline of its oldest request.
	Busy
	// Single is an error that one request can cause: constraint, encoding. The batch runs one by one at once, where
	// the error is the answer of the request that caused it.
	Single
	// Unknown is a commit without an answer. It is never run again; [Options.Resolve] asks what became of it.
	Unknown
)

// Options tune a [Group]; zero values mean the defaults.
type Options[Req, Res any] struct {
	MaxBatch int           // requests in one call of Apply; default 128
	MaxQueue int           // requests that wait for a worker; default 1024
	Workers  int           // calls of Apply at the same time; default 1, which keeps the order of arrival
	Patience time.Duration // a request's deadline while the database is busy, from its admission; default 10 s

	// Classify names the class of an error of Apply; nil means that each is Failed.
	Classify func(error) Class

	// Resolve returns what became of a batch whose commit got no answer: its outcomes, ErrNotCommitted if it is known
	// that nothing was committed, or any other error if that can't be learnt yet. It is asked again for up to five
	// seconds. If it is nil, or nothing is learnt, each request fails with ErrOutcomeUnknown.
	Resolve func(ctx context.Context, reqs []Req) ([]Outcome[Res], error)

	// Observe is told about each batch that was run, by its worker, after the answers went out. It must not block.
	Observe func(Stats)
}

// Stats describes one batch: its requests, the calls of Apply that it took, and the time until all were decided.
type Stats struct {
	Size     int
	Runs     int
	Duration time.Duration
}

func (o Options[Req, Res]) withDefaults() Options[Req, Res] {
	orDefault(&o.MaxBatch, 128)
	orDefault(&o.MaxQueue, 1024)
	orDefault(&o.Workers, 1)
	orDefault(&o.Patience, 10*time.Second)
	return o
}

func orDefault[N int | time.Duration](n *N, value N) {
	if *n <= 0 {
		*n = value
	}
}
