package bonus

import (
	"context"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/event"
)

// Service is bonus's rules over a store. Create it with [New] and end it with [Service.Close].
type Service struct{}

// Options of a service.
type Options struct {
	Topics   event.Topics
	Classify func(error) batch.Class       // of the store's errors
	Encode   func(Accrual) ([]byte, error) // the body of an answer that shows an accrual
	Wake     func()                        // called after messages were committed to the outbox
	Observe  func(group string, s batch.Stats)
}

// New starts a service over a store.
func New(store Store, o Options) *Service { panic("to be written") }

// Close lets admitted commands be decided, until ctx ends, and admits no more.
func (s *Service) Close(ctx context.Context) error { panic("to be written") }

// Undecided is the number of client and business keys whose first request is being decided in this process.
func (s *Service) Undecided() int { panic("to be written") }

// CreateCampaign is the command of an operator.
type CreateCampaign struct {
	ID     uuid.UUID // uuid.Nil: a new one; demo data has fixed ids
	Terms  Terms
	Caller string
	Key    idempotency.Key // "" for none: then every command is a new campaign
}

// CreateCampaign creates a campaign, in force from now on, or returns the one that exists under the command's key, as it
// is now. It refuses terms that mean nothing with invalid_request.
func (s *Service) CreateCampaign(ctx context.Context, cmd CreateCampaign) (c Campaign, replayed bool, err error) {
	panic("to be written")
}

// ChangeCampaign gives a campaign new terms from now on. What was placed before keeps the terms of its time. Terms that
// are equal to those in force add no version. change gets the terms in force and returns the new ones.
func (s *Service) ChangeCampaign(ctx context.Context, id uuid.UUID, change func(Terms) (Terms, error)) (Campaign, error) {
	panic("to be written")
}
