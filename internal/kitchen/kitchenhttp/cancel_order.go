package kitchenhttp

import (
	"context"
	"net/http"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/trace"
)

func (s server) cancelOrder(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "cancel-order", Method: http.MethodPost, Path: "/v1/orders/{id}/cancel", Tags: []string{tagOrders},
		Summary:     "Cancel an order that isn't being cooked yet",
		Description: "Cancelling a cancelled order changes nothing and answers 200.",
		Access:      httpapi.Only(auth.Customer), Codes: []fault.Code{fault.InvalidTransition, fault.OutcomeUnknown},
	}, func(ctx context.Context, in *OrderPath) (*httpapi.Answer[Order], error) {
		who := caller(ctx)
		changed, err := s.service.Change(ctx, kitchen.Change{
			OrderID: in.ID.UUID(), UserID: who.Subject, To: lifecycle.Cancelled, Party: lifecycle.Customer, Actor: who.Actor(),
			Trace: trace.Parent(ctx),
		})
		return httpapi.OK(showOrder(changed.Order)), err
	})
}
