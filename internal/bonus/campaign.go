package bonus

import (
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
)

// Kind says how a campaign counts points.
type Kind string

// The kinds of campaigns.
const (
	Percent Kind = "percent" // Value is in basis points of the order's total
	Fixed   Kind = "fixed"   // Value is points per order
)

// Terms are what a version of a campaign promises.
type Terms struct {
	Name            string
	Kind            Kind
	Value           int64 // basis points, or points
	MinOrder        int64 // smallest total, in minor units of the order's currency; 0: none
	CapPerOrder     int64 // most points of one order; 0: no cap
	Timezone        string
	StartsAt        time.Time  // first moment of the window
	EndsAt          *time.Time // first moment after it; nil: open
	EstablishmentID *uuid.UUID // nil: every establishment
	Active          bool
}

// Campaign is a promise of points, with the terms that are in force now. Version grows by one with each change.
type Campaign struct {
	ID      uuid.UUID
	Version int64
	Terms
	CreatedAt time.Time
	UpdatedAt time.Time // when this version came into force
	// Creator and Key are those of the request that created it, if it had a key; Command is that request's fingerprint.
	Creator string
	Key     idempotency.Key
	Command idempotency.Fingerprint
}

// Version is the terms of a campaign from a moment on.
type Version struct {
	CampaignID uuid.UUID
	No         int64
	Terms
	ValidFrom time.Time
}
