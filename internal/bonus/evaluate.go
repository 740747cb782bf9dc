package bonus

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/money"
)

// Completed is an order that was completed.
type Completed struct {
	OrderID         uuid.UUID
	UserID          string
	EstablishmentID uuid.UUID
	Total           money.Money
	PlacedAt        time.Time
	Trace           string // traceparent of the record, may be empty
}

// Evaluation is what was decided about a completed order, once.
type Evaluation struct {
	OrderID     uuid.UUID
	UserID      string
	Total       money.Money
	PlacedAt    time.Time
	EvaluatedAt time.Time
	Lines       []EvaluationLine
}

// EvaluationLine is one campaign that the order matched, with the version that was in force when it was placed.
type EvaluationLine struct {
	CampaignID uuid.UUID
	Version    int64
	Points     int64
}

// Evaluate decides about the completed orders of a poll in order and returns an error for each, nil where it is decided
// or was before. After an error that is not a refusal nothing later was decided, and every later order has that error too.
func (s *Service) Evaluate(ctx context.Context, orders []Completed) []error {
	panic("to be written")
}
