package establishmenthttp

import (
	"context"
	"errors"
	"net/http"

	"kuhnya/internal/auth"
	"kuhnya/internal/establishment"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/trace"
)

type advanceTicket struct {
	TicketPath
	Body struct {
		Action lifecycle.Action `json:"action" enum:"accept,reject,start,ready,complete,cancel"`
		Reason string           `json:"reason,omitempty" maxLength:"500" doc:"For the customer; needed with reject and cancel."`
	}
}

func (s server) advanceTicket(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "advance-ticket", Method: http.MethodPost, Path: "/v1/tickets/{order_id}/advance", Tags: []string{tag},
		Summary: "Press a button of the board",
		Description: "May always be pressed again: a step that the ticket has taken before changes nothing. Unsent steps are " +
			"sent, and if the ticket still stands there, that step is sent once more under the same key. 502 says that the step " +
			"is saved but not sent yet; its body has the ticket.",
		Access: httpapi.Only(auth.Staff), Codes: []fault.Code{fault.InvalidTransition, fault.PublishFailed, fault.OutcomeUnknown},
	}, func(ctx context.Context, in *advanceTicket) (*httpapi.Answer[Ticket], error) {
		ticket, err := s.service.Advance(ctx, establishment.Press{
			OrderID: in.OrderID.UUID(), EstablishmentID: caller(ctx).EstablishmentID, Action: in.Body.Action, Reason: in.Body.Reason,
			Trace: trace.Parent(ctx),
		})
		var refused *fault.Error
		if errors.As(err, &refused) && refused.Code == fault.PublishFailed {
			err = refused.With("ticket", showTicket(ticket))
		}
		return httpapi.OK(showTicket(ticket)), err
	})
}
