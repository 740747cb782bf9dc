package kitchenhttp

import (
	"context"
	"net/http"

	"kuhnya/internal/httpapi"
)

func (s server) getEstablishment(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "get-establishment", Method: http.MethodGet, Path: "/v1/establishments/{id}", Tags: []string{tagMenu},
		Summary: "Get an establishment", Access: httpapi.Anyone,
	}, func(ctx context.Context, in *EstablishmentPath) (*httpapi.Answer[Establishment], error) {
		e, found, err := s.read.Establishment(ctx, in.ID.UUID())
		if err == nil && !found {
			err = errNoEstablishment
		}
		return httpapi.OK(showEstablishment(e)), err
	})
}
