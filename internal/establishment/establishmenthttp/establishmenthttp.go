// Package establishmenthttp is establishment-service over HTTP: one file per endpoint, the shapes of its bodies in
// shapes.go. It decodes, asks the rules, and encodes.
package establishmenthttp

import (
	"context"
	"log/slog"

	"kuhnya/internal/auth"
	"kuhnya/internal/establishment"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

// server answers the endpoints of establishment.
type server struct {
	service *establishment.Service
	read    establishment.Reader
}

// Register adds establishment's endpoints to an API.
func Register(api *httpapi.API, service *establishment.Service, read establishment.Reader) {
	s := server{service, read}
	s.listTickets(api)
	s.getTicket(api)
	s.advanceTicket(api)
}

const tag = "Tickets"

var errNoTicket = fault.New(fault.NotFound, "no such ticket")

// TicketPath is the part of an input that names a ticket. It is exported because only then are embedded fields read.
type TicketPath struct {
	OrderID httpapi.ID `path:"order_id" doc:"The id of the ticket's order."`
}

// LogAttr implements [httpapi.About].
func (p TicketPath) LogAttr() slog.Attr { return slog.Any("order_id", p.OrderID) }

// caller is the identity behind a request that the guard let in.
func caller(ctx context.Context) auth.Identity {
	identity, _ := auth.FromContext(ctx)
	return identity
}
