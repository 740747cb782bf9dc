package kitchenhttp

import (
	"context"
	"net/http"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
)

type getMenu struct {
	EstablishmentPath
	httpapi.Page
}

func (s server) getMenu(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "get-menu", Method: http.MethodGet, Path: "/v1/establishments/{id}/menu", Tags: []string{tagMenu},
		Summary: "Read the menu of an establishment", Access: httpapi.Anyone,
	}, func(ctx context.Context, in *getMenu) (*httpapi.Answer[httpapi.List[Dish]], error) {
		after, _, err := httpapi.DecodeCursor[int64](in.Cursor)
		if err != nil {
			return nil, err
		}
		e, found, err := s.read.Establishment(ctx, in.ID.UUID())
		if err == nil && !found {
			err = errNoEstablishment
		}
		if err != nil {
			return nil, err
		}
		dishes, err := s.read.Menu(ctx, e.ID, after, in.Limit+1)
		if err != nil {
			return nil, err
		}
		list, err := httpapi.ListOf(in.Page, dishes,
			func(d kitchen.Dish) Dish { return showDish(d, e.Currency) }, func(d kitchen.Dish) int64 { return d.Position })
		return httpapi.OK(list), err
	})
}
