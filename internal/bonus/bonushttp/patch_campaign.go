package bonushttp

import (
	"context"
	"net/http"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

type patchCampaign struct {
	CampaignPath
	Body CampaignChange
}

func (s server) patchCampaign(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "patch-campaign", Method: http.MethodPatch, Path: "/v1/campaigns/{id}", Tags: []string{tagCampaigns},
		Summary: "Change the terms of a campaign from now on, or switch it off",
		Description: "What is left out stays as it is. A change is a new version, which is in force from now on: orders " +
			"that were placed before keep the terms of their time, whenever they are completed. A change that changes nothing " +
			"makes no version, so the request may be sent again. An `ends_at` or `establishment_id` can be replaced, but not " +
			"taken away.\n\n" + aboutMoments,
		Access: httpapi.Only(auth.Operator), Codes: []fault.Code{fault.OutcomeUnknown},
	}, func(ctx context.Context, in *patchCampaign) (*httpapi.Answer[Campaign], error) {
		c, err := s.service.ChangeCampaign(ctx, in.ID.UUID(), in.Body.of)
		return httpapi.OK(showCampaign(c)), err
	})
}
