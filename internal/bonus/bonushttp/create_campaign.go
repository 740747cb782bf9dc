package bonushttp

import (
	"context"
	"net/http"

	"kuhnya/idempotency"
	"kuhnya/internal/auth"
	"kuhnya/internal/bonus"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

type createCampaign struct {
	Body struct {
		Name     string     `json:"name" minLength:"1" maxLength:"200"`
		Kind     bonus.Kind `json:"kind" enum:"percent,fixed" doc:"percent: a share of the order's total. fixed: so many points for each order."`
		Value    int64      `json:"value" minimum:"1" doc:"With percent: basis points, so 500 is 5 %; what is less than a whole unit of the currency earns nothing, so an order of 450.00 earns 22 points. With fixed: points." example:"500"`
		Timezone string     `json:"timezone" doc:"IANA name: where the campaign's days begin and end." example:"Europe/Moscow"`
		CampaignOptions
	}
}

func (s server) createCampaign(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "create-campaign", Method: http.MethodPost, Path: "/v1/campaigns", Tags: []string{tagCampaigns},
		Summary: "Create a campaign",
		Description: "A completed order earns points if it was placed within the campaign's window, by the terms that were in " +
			"force then; no campaign reaches back to orders placed before it was created. What is left out: `starts_at`, the " +
			"campaign starts now; `ends_at`, it stays open; `min_order` and `cap_per_order`, there is none; `establishment_id`, " +
			"it is for all establishments; `active`, it is. With an Idempotency-Key the request may be sent again: the answer " +
			"is then 200 with the campaign as it is now.\n\n" + aboutMoments,
		Access: httpapi.Only(auth.Operator), Success: []int{201, 200}, HonoursKey: true,
		Codes: []fault.Code{fault.IdempotencyKeyReused, fault.OutcomeUnknown},
	}, func(ctx context.Context, in *createCampaign) (*httpapi.Replayable[Campaign], error) {
		terms, err := in.terms()
		if err != nil {
			return nil, err
		}
		key, _ := httpapi.IdempotencyKey(ctx)
		c, replayed, err := s.service.CreateCampaign(ctx, bonus.CreateCampaign{
			Terms: terms, Caller: caller(ctx).Actor(), Key: idempotency.Key(key),
		})
		if err != nil {
			return nil, err
		}
		location := "/v1/campaigns/" + c.ID.String()
		if replayed {
			return httpapi.Replay(http.StatusOK, location, showCampaign(c)), nil
		}
		return httpapi.Done(http.StatusCreated, location, showCampaign(c)), nil
	})
}

// terms are those of a campaign that says nothing but what the request says. Without a start they start now, which is
// for the rules to know.
func (in *createCampaign) terms() (bonus.Terms, error) {
	b := in.Body
	change := CampaignChange{Name: &b.Name, Kind: &b.Kind, Value: &b.Value, Timezone: &b.Timezone, CampaignOptions: b.CampaignOptions}
	return change.of(bonus.Terms{Active: true})
}
