package bonushttp

import (
	"github.com/google/uuid"

	"kuhnya/internal/bonus"
	"kuhnya/internal/httpapi"
)

// CampaignChange is what a request says about the terms of a campaign. It is exported, like what it embeds, because only
// then are embedded fields read.
type CampaignChange struct {
	Name     *string     `json:"name,omitempty" minLength:"1" maxLength:"200"`
	Kind     *bonus.Kind `json:"kind,omitempty" enum:"percent,fixed" doc:"Can be said again, but not changed."`
	Value    *int64      `json:"value,omitempty" minimum:"1" doc:"With percent: basis points of the order's total. With fixed: points for each order."`
	Timezone *string     `json:"timezone,omitempty" doc:"IANA name. By itself it moves nothing: starts_at and ends_at are kept as moments."`
	CampaignOptions
}

// CampaignOptions are the terms that a new campaign may leave out, too.
type CampaignOptions struct {
	MinOrder        *int64      `json:"min_order,omitempty" minimum:"0" doc:"Smallest total that earns points, in minor units of the order's currency, whichever that is; 0: none."`
	CapPerOrder     *int64      `json:"cap_per_order,omitempty" minimum:"0" doc:"Most points that one order earns; 0: no cap."`
	StartsAt        *string     `json:"starts_at,omitempty" maxLength:"40" doc:"The first moment at which orders may be placed." example:"2026-04-01"`
	EndsAt          *string     `json:"ends_at,omitempty" maxLength:"40" doc:"The first moment that is too late: a campaign until 30 April ends at 2026-05-01." example:"2026-05-01"`
	EstablishmentID *httpapi.ID `json:"establishment_id,omitempty" doc:"The only establishment whose orders count. Whether there is such an establishment isn't checked."`
	Active          *bool       `json:"active,omitempty" doc:"false: earns nothing until it is switched on again."`
}

// of returns the terms with what the request says about them.
func (c CampaignChange) of(t bonus.Terms) (bonus.Terms, error) {
	set(&t.Name, c.Name)
	set(&t.Kind, c.Kind)
	set(&t.Value, c.Value)
	set(&t.Timezone, c.Timezone)
	set(&t.MinOrder, c.MinOrder)
	set(&t.CapPerOrder, c.CapPerOrder)
	set(&t.Active, c.Active)
	if c.EstablishmentID != nil {
		t.EstablishmentID = (*uuid.UUID)(c.EstablishmentID)
	}
	if c.StartsAt != nil {
		at, err := readMoment("/starts_at", *c.StartsAt, t.Timezone)
		if err != nil {
			return t, err
		}
		t.StartsAt = at
	}
	if c.EndsAt != nil {
		at, err := readMoment("/ends_at", *c.EndsAt, t.Timezone)
		if err != nil {
			return t, err
		}
		t.EndsAt = &at
	}
	return t, nil
}

func set[T any](member *T, value *T) {
	if value != nil {
		*member = *value
	}
}
