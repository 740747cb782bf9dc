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
	"kuhnya/internal/trace"
)

type reportStatus struct {
	OrderPath
	Body struct {
		Status string `json:"status" enum:"accepted,cooking,ready,completed,rejected,cancelled"`
		Reason string `json:"reason,omitempty" maxLength:"500"`
	}
}

func (s server) reportStatus(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "report-status", Method: http.MethodPost, Path: "/v1/orders/{id}/status", Tags: []string{tagOrders},
		Summary: "Report what the establishment did, as its callback",
		Description: "A status that the order has already is no change. With an Idempotency-Key, unique within the order, late " +
			"and repeated reports are counted on the event that they repeat.",
		Access: httpapi.Only(auth.Service, auth.Staff), HonoursKey: true,
		Codes: []fault.Code{fault.InvalidTransition, fault.IdempotencyKeyReused, fault.OutcomeUnknown},
	}, func(ctx context.Context, in *reportStatus) (*httpapi.Replayable[Order], error) {
		who := caller(ctx)
		key, _ := httpapi.IdempotencyKey(ctx)
		changed, err := s.service.Change(ctx, kitchen.Change{
			OrderID: in.ID.UUID(), EstablishmentID: who.EstablishmentID, To: lifecycle.Status(in.Body.Status), Reason: in.Body.Reason,
			Party: lifecycle.Staff, Actor: who.Actor(), Key: idempotency.Key(key), Trace: trace.Parent(ctx),
		})
		if err == nil && changed.Replayed {
			return httpapi.Replay(http.StatusOK, "", showOrder(changed.Order)), nil
		}
		return httpapi.Done(http.StatusOK, "", showOrder(changed.Order)), err
	})
}
