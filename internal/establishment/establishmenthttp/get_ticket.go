package establishmenthttp

import (
	"context"
	"net/http"

	"kuhnya/internal/auth"
	"kuhnya/internal/httpapi"
)

func (s server) getTicket(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "get-ticket", Method: http.MethodGet, Path: "/v1/tickets/{order_id}", Tags: []string{tag},
		Summary: "Get a ticket", Access: httpapi.Only(auth.Staff),
	}, func(ctx context.Context, in *TicketPath) (*httpapi.Answer[Ticket], error) {
		ticket, found, err := s.read.Ticket(ctx, in.OrderID.UUID())
		if err == nil && (!found || ticket.EstablishmentID != caller(ctx).EstablishmentID) {
			err = errNoTicket
		}
		return httpapi.OK(showTicket(ticket)), err
	})
}
