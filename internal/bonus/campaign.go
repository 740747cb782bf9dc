package bonus

import (
	"context"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones must be known on machines without a zone database
	"unicode/utf8"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/fault"
)

// MaxName is the longest name of a campaign, in characters.
const MaxName = 200

// tick is the resolution in which databases keep times, and so the shortest that terms can be in force.
const tick = time.Microsecond

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
	StartsAt        time.Time  // first moment of the window; of a new campaign zero for now
	EndsAt          *time.Time // first moment after it; nil: open
	EstablishmentID *uuid.UUID // nil: every establishment
	Active          bool
}

// Campaign is a promise of points, with its newest terms. Version grows by one with each change.
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

// Version is the terms of a campaign from a moment on, until the next version's moment.
type Version struct {
	CampaignID uuid.UUID
	No         int64
	Terms
	ValidFrom time.Time
}

// CreateCampaign is the command of an operator.
type CreateCampaign struct {
	ID     uuid.UUID // uuid.Nil: a new one; demo data has fixed ids
	Terms  Terms
	Caller string
	Key    idempotency.Key // "" for none: then every command is a new campaign
}

// CreateCampaign creates a campaign, in force from now on, or returns the one that exists under the command's key or
// id, as it is now. It refuses terms that mean nothing with invalid_request.
func (s *Service) CreateCampaign(ctx context.Context, cmd CreateCampaign) (c Campaign, replayed bool, err error) {
	cmd.Terms = cmd.Terms.kept()
	if err := cmd.Terms.check(); err != nil {
		return Campaign{}, false, err
	}
	created := Campaign{ID: cmd.ID, Version: 1, Terms: cmd.Terms, Creator: cmd.Caller, Key: cmd.Key}
	if created.ID == uuid.Nil {
		created.ID = newID()
	}
	if created.Key != "" {
		created.Command = cmd.fingerprint()
	}
	err = s.write(ctx, func(tx Tx) error {
		c, replayed, err = create(tx, created)
		return err
	})
	return c, replayed, err
}

func create(tx Tx, c Campaign) (saved Campaign, replayed bool, err error) {
	if existing, found, err := existing(tx, c); err != nil || found {
		return existing, found, err
	}
	now, err := tx.Now()
	if err != nil {
		return Campaign{}, false, fmt.Errorf("read the clock: %w", err)
	}
	if c, err = c.begin(now); err != nil {
		return Campaign{}, false, err
	}
	inserted, err := tx.InsertCampaign(c)
	switch {
	case err != nil:
		return Campaign{}, false, fmt.Errorf("insert campaign %s: %w", c.ID, err)
	case !inserted:
		return Campaign{}, false, ErrLostKey
	}
	return c, false, nil
}

// begin is a new campaign at the moment of its creation, which is also its start if its terms name none.
func (c Campaign) begin(now time.Time) (Campaign, error) {
	c.CreatedAt, c.UpdatedAt = now, now
	if c.StartsAt.IsZero() {
		c.StartsAt = now
	}
	return c, c.Terms.check() // again: its end may be over
}

// existing returns the campaign that a command has made before, by its key or else by its id.
func existing(tx Tx, c Campaign) (before Campaign, found bool, err error) {
	if c.Key != "" {
		before, found, err = tx.CampaignByKey(CallerKey{c.Creator, c.Key})
		if err == nil && found && idempotency.Decide(true, before.Command, c.Command) == idempotency.Reused {
			return Campaign{}, false, fault.New(fault.IdempotencyKeyReused, "this Idempotency-Key stands for another campaign").
				With("original_created_at", before.CreatedAt)
		}
	}
	if err == nil && !found {
		before, found, err = tx.LockCampaign(c.ID)
	}
	if err != nil {
		return Campaign{}, false, fmt.Errorf("look up campaign %s: %w", c.ID, err)
	}
	return before, found, nil
}

// ChangeCampaign gives a campaign new terms from now on. What was placed before keeps the terms of its time. Terms that
// are equal to the newest add no version. change gets the newest terms and returns the new ones; it may run again.
func (s *Service) ChangeCampaign(ctx context.Context, id uuid.UUID, change func(Terms) (Terms, error)) (c Campaign, err error) {
	err = s.write(ctx, func(tx Tx) error {
		before, found, err := tx.LockCampaign(id)
		switch {
		case err != nil:
			return fmt.Errorf("lock campaign %s: %w", id, err)
		case !found:
			return fault.New(fault.NotFound, "no such campaign")
		}
		terms, err := change(before.Terms)
		if err != nil {
			return err
		}
		c, err = before.change(tx, terms.kept())
		return err
	})
	if err != nil {
		return Campaign{}, err
	}
	return c, nil
}

// change adds a version with other terms to a campaign that is locked.
func (c Campaign) change(tx Tx, terms Terms) (Campaign, error) {
	if err := terms.check(); err != nil {
		return Campaign{}, err
	}
	switch {
	case terms.Kind != c.Kind:
		return Campaign{}, fault.Invalid("/kind", "the kind of a campaign can't change")
	case terms.StartsAt.IsZero():
		return Campaign{}, fault.Invalid("/starts_at", "can't be taken away from a campaign")
	}
	if terms.equal(c.Terms) {
		return c, nil
	}
	now, err := tx.Now()
	if err != nil {
		return Campaign{}, fmt.Errorf("read the clock: %w", err)
	}
	c.Version, c.Terms, c.UpdatedAt = c.Version+1, terms, after(c.UpdatedAt, now)
	err = tx.InsertVersion(Version{CampaignID: c.ID, No: c.Version, Terms: c.Terms, ValidFrom: c.UpdatedAt})
	if err != nil {
		return Campaign{}, fmt.Errorf("insert version %d of campaign %s: %w", c.Version, c.ID, err)
	}
	return c, nil
}

// after is the moment from which a version is in force: now, but always after the version before it. Two changes may
// fall into one tick of the database's clock, and that clock may be set back; which version was in force at a moment
// must be clear all the same, and what was placed under the one before keeps it.
func after(before, now time.Time) time.Time {
	if earliest := before.Add(tick); now.Before(earliest) {
		return earliest
	}
	return now
}

// kept is the terms as a database keeps them, so that what is answered and judged is what is stored.
func (t Terms) kept() Terms {
	t.StartsAt = t.StartsAt.UTC().Truncate(tick)
	if t.EndsAt != nil {
		t.EndsAt = new(t.EndsAt.UTC().Truncate(tick))
	}
	return t
}

func (t Terms) equal(other Terms) bool {
	ends := t.EndsAt == other.EndsAt || t.EndsAt != nil && other.EndsAt != nil && t.EndsAt.Equal(*other.EndsAt)
	place := t.EstablishmentID == other.EstablishmentID ||
		t.EstablishmentID != nil && other.EstablishmentID != nil && *t.EstablishmentID == *other.EstablishmentID
	starts := t.StartsAt.Equal(other.StartsAt)
	t.StartsAt, t.EndsAt, t.EstablishmentID = other.StartsAt, other.EndsAt, other.EstablishmentID
	return ends && place && starts && t == other
}

func (t Terms) check() error {
	switch {
	case strings.TrimSpace(t.Name) == "" || utf8.RuneCountInString(t.Name) > MaxName:
		return fault.Invalid("/name", "must have 1 to %d characters, not only blanks", MaxName)
	case t.Kind != Percent && t.Kind != Fixed:
		return fault.Invalid("/kind", "must be percent or fixed")
	case t.Kind == Percent && (t.Value < 1 || t.Value > basisPoints):
		return fault.Invalid("/value", "must be 1 to %d basis points", basisPoints)
	case t.Kind == Fixed && (t.Value < 1 || t.Value > MaxPoints):
		return fault.Invalid("/value", "must be 1 to %d points", int64(MaxPoints))
	case t.MinOrder < 0:
		return fault.Invalid("/min_order", "must not be negative")
	case t.CapPerOrder < 0:
		return fault.Invalid("/cap_per_order", "must not be negative")
	case t.EstablishmentID != nil && *t.EstablishmentID == uuid.Nil:
		return fault.Invalid("/establishment_id", "the nil UUID is no id of an establishment")
	case t.EndsAt != nil && !t.EndsAt.After(t.StartsAt):
		return fault.Invalid("/ends_at", "must be after starts_at")
	}
	if _, err := time.LoadLocation(t.Timezone); err != nil || t.Timezone == "" || t.Timezone == "Local" {
		return fault.Invalid("/timezone", "must be an IANA time zone such as Europe/Moscow")
	}
	return nil
}
