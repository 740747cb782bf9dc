package kitchenhttp

import (
	"context"
	"net/http"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
)

func (s server) listEstablishments(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "list-establishments", Method: http.MethodGet, Path: "/v1/establishments", Tags: []string{tagMenu},
		Summary: "List establishments", Access: httpapi.Anyone,
	}, func(ctx context.Context, in *struct{ httpapi.Page }) (*httpapi.Answer[httpapi.List[Establishment]], error) {
		after, _, err := httpapi.DecodeCursor[httpapi.ID](in.Cursor)
		if err != nil {
			return nil, err
		}
		found, err := s.read.ListEstablishments(ctx, after.UUID(), in.Limit+1)
		if err != nil {
			return nil, err
		}
		list, err := httpapi.ListOf(in.Page, found, showEstablishment, func(e kitchen.Establishment) httpapi.ID { return httpapi.ID(e.ID) })
		return httpapi.OK(list), err
	})
}
