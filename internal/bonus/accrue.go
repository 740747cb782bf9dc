package bonus

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
)

// MaxPoints is the most that one accrual asked for by a client may have.
const MaxPoints = 1_000_000_000_000

// Origin says who asked for an accrual.
type Origin string

// The origins of accruals.
const (
	FromAPI   Origin = "api"   // a client, by name
	FromEvent Origin = "event" // the record of a completed order
)

// BusinessKey is what makes two accruals the same, whatever client keys they come under.
type BusinessKey struct {
	UserID     string
	CampaignID uuid.UUID
	OrderID    uuid.UUID
}

// Accrual is points that a user got for an order by a campaign.
type Accrual struct {
	ID uuid.UUID
	BusinessKey
	Points    int64
	Origin    Origin
	CreatedAt time.Time
}

// Answer is what was answered under a client's key, kept as long as its accrual.
type Answer struct {
	CallerKey
	Command   idempotency.Fingerprint
	AccrualID uuid.UUID
	Status    int    // as in HTTP: 201 for the request that accrued, 200 for one that found the accrual
	Body      []byte // the encoded accrual, byte for byte as it was sent
}

// Accrue is the command of a client.
type Accrue struct {
	BusinessKey
	Points int64
	Caller string          // who asks, as in audit trails: "service:erp"
	Key    idempotency.Key // "" for none: then only the business key makes it repeatable
	Trace  string          // traceparent of the request, may be empty
}

// Accrued is the answer to a command. Repeat says that it was not this command that accrued.
type Accrued struct {
	AccrualID uuid.UUID
	Status    int
	Body      []byte
	Repeat    bool
}

// Accrue accrues points, or returns what was answered before.
//
// While another request with the same client key or the same business key is being decided it refuses with
// request_in_progress at once. These claims are a courtesy; what makes two accruals of one business key impossible is
// the unique index that [AccruingTx.InsertAccruals] meets.
func (s *Service) Accrue(ctx context.Context, cmd Accrue) (Accrued, error) {
	panic("to be written")
}
