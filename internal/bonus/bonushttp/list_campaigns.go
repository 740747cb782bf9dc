package bonushttp

import (
	"context"
	"net/http"

	"kuhnya/internal/bonus"
	"kuhnya/internal/httpapi"
)

func (s server) listCampaigns(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "list-campaigns", Method: http.MethodGet, Path: "/v1/campaigns", Tags: []string{tagCampaigns},
		Summary:     "List campaigns, newest first",
		Description: "All of them: those to come, those that have ended and those that are switched off, too.",
		Access:      httpapi.SignedIn,
	}, func(ctx context.Context, in *struct{ httpapi.Page }) (*httpapi.Answer[httpapi.List[Campaign]], error) {
		before, _, err := httpapi.DecodeCursor[httpapi.ID](in.Cursor)
		if err != nil {
			return nil, err
		}
		campaigns, err := s.read.Campaigns(ctx, before.UUID(), in.Limit+1)
		if err != nil {
			return nil, err
		}
		list, err := httpapi.ListOf(in.Page, campaigns, showCampaign, func(c bonus.Campaign) httpapi.ID { return httpapi.ID(c.ID) })
		return httpapi.OK(list), err
	})
}
