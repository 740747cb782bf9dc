package establishmenthttp

import (
	"context"
	"net/http"

	"kuhnya/internal/auth"
	"kuhnya/internal/establishment"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/lifecycle"
)

type listTickets struct {
	Status lifecycle.Status `query:"status" enum:"placed,accepted,cooking,ready,completed,rejected,cancelled"`
	httpapi.Page
}

func (s server) listTickets(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "list-tickets", Method: http.MethodGet, Path: "/v1/tickets", Tags: []string{tag},
		Summary: "List the tickets of your establishment, newest first", Access: httpapi.Only(auth.Staff),
	}, func(ctx context.Context, in *listTickets) (*httpapi.Answer[httpapi.List[Ticket]], error) {
		after, _, err := httpapi.DecodeCursor[httpapi.ID](in.Cursor)
		if err != nil {
			return nil, err
		}
		filter := establishment.TicketFilter{EstablishmentID: caller(ctx).EstablishmentID, Status: in.Status}
		tickets, err := s.read.Tickets(ctx, filter, after.UUID(), in.Limit+1)
		if err != nil {
			return nil, err
		}
		list, err := httpapi.ListOf(in.Page, tickets, showTicket,
			func(t establishment.Ticket) httpapi.ID { return httpapi.ID(t.OrderID) })
		return httpapi.OK(list), err
	})
}
