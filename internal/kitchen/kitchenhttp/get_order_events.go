package kitchenhttp

import (
	"context"
	"net/http"

	"kuhnya/internal/httpapi"
)

func (s server) getOrderEvents(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "get-order-events", Method: http.MethodGet, Path: "/v1/orders/{id}/events", Tags: []string{tagOrders},
		Summary: "Read the history of an order, with how often each step was delivered", Access: readers,
	}, func(ctx context.Context, in *OrderPath) (*httpapi.Answer[httpapi.List[Event]], error) {
		order, err := s.visibleOrder(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		events, err := s.read.Events(ctx, order.ID)
		list := httpapi.List[Event]{Items: make([]Event, len(events))}
		for i, e := range events {
			list.Items[i] = showEvent(e)
		}
		return httpapi.OK(list), err
	})
}
