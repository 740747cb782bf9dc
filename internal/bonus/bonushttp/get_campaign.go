package bonushttp

import (
	"context"
	"net/http"

	"kuhnya/internal/httpapi"
)

func (s server) getCampaign(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "get-campaign", Method: http.MethodGet, Path: "/v1/campaigns/{id}", Tags: []string{tagCampaigns},
		Summary: "Get a campaign", Access: httpapi.SignedIn,
	}, func(ctx context.Context, in *CampaignPath) (*httpapi.Answer[Campaign], error) {
		c, found, err := s.read.Campaign(ctx, in.ID.UUID())
		if err == nil && !found {
			err = errNoCampaign
		}
		return httpapi.OK(showCampaign(c)), err
	})
}
