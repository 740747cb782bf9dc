package bonus

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/money"
)

// Service is bonus's rules over a store. Create it with [New] and end it with [Service.Close].
type Service struct {
	store        Store
	topics       event.Topics
	accruals     *batch.Group[accruing, Accrued]
	evaluations  *batch.Group[Completed, evaluated]
	clientKeys   idempotency.Claims[CallerKey]
	businessKeys idempotency.Claims[BusinessKey]
	encode       func(Accrual) ([]byte, error)
	wake         func()
	classify     func(error) batch.Class
	log          *slog.Logger
}

// Options of a service.
type Options struct {
	Topics   event.Topics
	Classify func(error) batch.Class           // of the store's errors
	Encode   func(Accrual) ([]byte, error)     // the body of an answer that shows an accrual
	Wake     func()                            // called after messages were committed to the outbox
	Observe  func(group string, s batch.Stats) // told about each batch by each group's own worker; may be nil
	Log      *slog.Logger                      // default: nothing is logged
}

// New starts a service over a store.
func New(store Store, o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		store: store, topics: o.Topics, encode: o.Encode, wake: o.Wake, classify: classify(o.Classify), log: o.Log,
	}
	s.accruals = batch.New(s.accrueBatch, batch.Options[accruing, Accrued]{
		Classify: s.classify, Observe: observe(o.Observe, "accruals"),
	})
	s.evaluations = batch.New(s.evaluateBatch, batch.Options[Completed, evaluated]{
		Classify: s.classify, Observe: observe(o.Observe, "evaluations"),
	})
	return s
}

func observe(tell func(group string, s batch.Stats), group string) func(batch.Stats) {
	if tell == nil {
		return nil
	}
	return func(s batch.Stats) { tell(group, s) }
}

// Close lets admitted commands be decided, until ctx ends, and admits no more.
func (s *Service) Close(ctx context.Context) error {
	return errors.Join(s.accruals.Close(ctx), s.evaluations.Close(ctx))
}

// Undecided is the number of client and business keys whose first request is being decided in this process.
func (s *Service) Undecided() int { return s.clientKeys.Len() + s.businessKeys.Len() }

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

// refusal gives the failures of a batch the codes that callers know.
func refusal(err error) error {
	switch {
	case err == nil || fault.CodeOf(err) != "":
		return err
	case errors.Is(err, money.ErrOverflow):
		return fault.New(fault.InvalidRequest, "with these points a balance would leave 64 bits").Because(err)
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
