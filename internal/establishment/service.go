package establishment

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/outbox"
)

// Publisher carries a step to kitchen's broker. Publish returns nil only after the broker acknowledged the message, and
// returns when ctx ends; after an error the message may have arrived or not.
type Publisher interface {
	Publish(ctx context.Context, m outbox.Message) error
}

// Service is establishment's rules over a store. Create it with [New] and end it with [Service.Close].
type Service struct {
	store     Store
	topics    event.Topics
	publisher Publisher
	log       *slog.Logger
	pressings *batch.Group[pressing, pressed]
	mergings  *batch.Group[Fact, struct{}]
	markings  *batch.Group[[]uuid.UUID, struct{}]
	sending   idempotency.Claims[uuid.UUID] // orders whose steps are being sent by this process
	untold    atomic.Int64                  // presses that kitchen could not be told of
}

// Options of a service.
type Options struct {
	Topics    event.Topics
	Publisher Publisher
	Classify  func(error) batch.Class // of the store's errors
	Log       *slog.Logger            // default: nothing is logged
	// Observe is told about each batch of a group (pressings, mergings, markings). It may be nil and must not block.
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
	s := &Service{store: store, topics: o.Topics, publisher: o.Publisher, log: o.Log}
	classify := classify(o.Classify)
	s.pressings = batch.New(s.pressBatch, batch.Options[pressing, pressed]{Classify: classify, Observe: o.observe("pressings")})
	s.mergings = batch.New(s.mergeBatch, batch.Options[Fact, struct{}]{Classify: classify, Observe: o.observe("mergings")})
	s.markings = batch.New(s.markBatch, batch.Options[[]uuid.UUID, struct{}]{Classify: classify, Observe: o.observe("markings")})
	return s
}

// Close lets admitted commands be decided, until ctx ends, and admits no more.
func (s *Service) Close(ctx context.Context) error {
	return errors.Join(s.pressings.Close(ctx), s.mergings.Close(ctx), s.markings.Close(ctx))
}

// classify adds the errors of these rules to those of the store.
func classify(store func(error) batch.Class) func(error) batch.Class {
	return func(err error) batch.Class {
		if errors.Is(err, errLostInsert) {
			return batch.Again
		}
		return store(err)
	}
}

// refusal gives the failures of a batch the codes that callers know.
func refusal(err error) error {
	if err != nil && fault.CodeOf(err) == "" && errors.Is(err, batch.ErrOutcomeUnknown) {
		return fault.New(fault.OutcomeUnknown, "the outcome could not be learnt; pressing again is safe").Because(err)
	}
	return err
}

// newID is a UUIDv7: ids ascend with time, so indexes grow at their end.
func newID() uuid.UUID {
	return uuid.Must(uuid.NewV7())
}

func distinct(ids []uuid.UUID) []uuid.UUID {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}
