package kitchenhttp

import (
	"context"
	"net/http"

	"kuhnya/internal/httpapi"
)

func (s server) getOrder(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "get-order", Method: http.MethodGet, Path: "/v1/orders/{id}", Tags: []string{tagOrders},
		Summary: "Get an order", Access: readers,
	}, func(ctx context.Context, in *OrderPath) (*httpapi.Answer[Order], error) {
		order, err := s.visibleOrder(ctx, in.ID)
		return httpapi.OK(showOrder(order)), err
	})
}
