package kitchenhttp

import (
	"context"
	"net/http"

	"kuhnya/idempotency"
	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
)

type listOrders struct {
	Status lifecycle.Status `query:"status" enum:"placed,accepted,cooking,ready,completed,rejected,cancelled"`
	Key    string           `query:"idempotency_key" maxLength:"255" doc:"Finds the order of a key after a lost answer."`
	httpapi.Page
}

func (s server) listOrders(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "list-orders", Method: http.MethodGet, Path: "/v1/orders", Tags: []string{tagOrders},
		Summary:     "List orders, newest first",
		Description: "Customers see their own orders, staff those of their establishment, operators all.",
		Access:      readers,
	}, func(ctx context.Context, in *listOrders) (*httpapi.Answer[httpapi.List[Order]], error) {
		before, _, err := httpapi.DecodeCursor[httpapi.ID](in.Cursor)
		if err != nil {
			return nil, err
		}
		filter, err := in.filter(caller(ctx))
		if err != nil {
			return nil, err
		}
		orders, err := s.read.Orders(ctx, filter, before.UUID(), in.Limit+1)
		if err != nil {
			return nil, err
		}
		list, err := httpapi.ListOf(in.Page, orders, showOrder, func(o kitchen.Order) httpapi.ID { return httpapi.ID(o.ID) })
		return httpapi.OK(list), err
	})
}

// filter narrows the list to what the caller may see.
func (in *listOrders) filter(who auth.Identity) (f kitchen.OrderFilter, err error) {
	f.Status = in.Status
	if in.Key != "" {
		key, _, err := idempotency.ParseHeader([]string{in.Key})
		if err != nil {
			return f, fault.Invalid("/idempotency_key", "is not an idempotency key")
		}
		f.Key = key
	}
	switch who.Role {
	case auth.Customer:
		f.UserID = who.Subject
	case auth.Staff:
		f.EstablishmentID = who.EstablishmentID
	}
	return f, nil
}
