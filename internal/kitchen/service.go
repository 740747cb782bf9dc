package kitchen

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
)

// claimPatience is how long a repeated order waits for the decision about the first.
const claimPatience = 2 * time.Second

// Service is kitchen's rules over a store. Create it with [New] and end it with [Service.Close].
type Service struct {
	store     Store
	topics    event.Topics
	placings  *batch.Group[placing, Placed]
	changings *batch.Group[changing, Changed]
	claims    idempotency.Claims[UserKey]
	wake      func()
	classify  func(error) batch.Class
	log       *slog.Logger
}

// Options of a service.
type Options struct {
	Topics   event.Topics
	Classify func(error) batch.Class // of the store's errors
	Wake     func()                  // called after messages were committed to the outbox
	MaxBatch int                     // commands in one transaction; default that of package batch
	Log      *slog.Logger            // default: nothing is logged
	// Observe is told about each batch of a group (placings, changings). It may be nil and must not block.
	Observe func(group string, s batch.Stats)
}

// observe is Observe for one group.
func (o Options) observe(group string) func(batch.Stats) {
	if o.Observe == nil {
		return nil
	}
	return func(s batch.Stats) { o.Observe(group, s) }
}

// New starts a service over a store.
func New(store Store, o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{store: store, topics: o.Topics, wake: o.Wake, classify: classify(o.Classify), log: o.Log}
	s.placings = batch.New(s.placeBatch, batch.Options[placing, Placed]{
		MaxBatch: o.MaxBatch, Classify: s.classify, Observe: o.observe("placings"),
	})
	s.changings = batch.New(s.changeBatch, batch.Options[changing, Changed]{
		MaxBatch: o.MaxBatch, Classify: s.classify, Observe: o.observe("changings"),
	})
	return s
}

// Close lets admitted commands be decided, until ctx ends, and admits no more.
func (s *Service) Close(ctx context.Context) error {
	return errors.Join(s.placings.Close(ctx), s.changings.Close(ctx))
}

// classify adds the errors of these rules to those of the store.
func classify(store func(error) batch.Class) func(error) batch.Class {
	return func(err error) batch.Class {
		if errors.Is(err, ErrLostKey) {
			return batch.Again
		}
		return store(err)
	}
}

// write is for commands too rare to share a transaction. A busy database is asked again until ctx ends.
func (s *Service) write(ctx context.Context, f func(Tx) error) error {
	return batch.Retry(ctx, s.classify, func() error { return s.store.Write(ctx, f) })
}

// do hands a command to its batch and waits for the decision. then gets the outcome once, even if the caller has gone by
// then.
func do[Req, Res any](ctx context.Context, group *batch.Group[Req, Res], req Req, then func(batch.Outcome[Res])) (Res, error) {
	res, err := group.DoThen(ctx, req, then)
	return res, refusal(err)
}

// refusal gives the failures of a batch the codes that callers know.
func refusal(err error) error {
	switch {
	case err == nil || fault.CodeOf(err) != "":
		return err
	case errors.Is(err, batch.ErrOutcomeUnknown):
		return fault.New(fault.OutcomeUnknown, "the outcome could not be learnt, ask again with the same key").Because(err)
	default:
		return err
	}
}

// newID is a UUIDv7: ids ascend with time, so indexes grow at their end.
func newID() uuid.UUID {
	return uuid.Must(uuid.NewV7())
}
