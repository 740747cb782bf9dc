package opshttp

import (
	"context"

	"kuhnya/internal/httpapi"
)

func (s Service) getOverview(api *httpapi.API) {
	op := s.get("overview", "/overview")
	op.Summary = "See how the service is doing: what it has to send and to read, and what waits for a person"
	httpapi.Register(api, op, func(ctx context.Context, _ *struct{}) (*httpapi.Answer[Overview], error) {
		overview, err := s.Inspect(ctx)
		return httpapi.OK(showOverview(overview)), err
	})
}
