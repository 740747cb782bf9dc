// Package kitchenhttp is kitchen-service over HTTP: one file per endpoint, the shapes of its bodies in shapes.go. It
// decodes, asks the rules, and encodes; it decides nothing but who sees what.
package kitchenhttp

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
)

// server answers the endpoints of kitchen.
type server struct {
	service *kitchen.Service
	read    kitchen.Reader
	changes Changes
}

// Changes tells when to look at an order again.
type Changes interface {
	// Watch returns a channel that has a value whenever the order may have changed since the last was received, until
	// stop is called. It may miss changes.
	Watch(orderID uuid.UUID) (changed <-chan struct{}, stop func())
}

// Register adds kitchen's endpoints to an API.
func Register(api *httpapi.API, service *kitchen.Service, read kitchen.Reader, changes Changes) {
	s := server{service, read, changes}
	s.listEstablishments(api)
	s.getEstablishment(api)
	s.putEstablishment(api)
	s.patchEstablishment(api)
	s.getMenu(api)
	s.putMenu(api)
	s.patchDish(api)
	s.placeOrder(api)
	s.listOrders(api)
	s.getOrder(api)
	s.getOrderEvents(api)
	s.streamOrder(api)
	s.cancelOrder(api)
	s.reportStatus(api)
}

const (
	tagMenu   = "Establishments and menus"
	tagOrders = "Orders"
)

// readers are the roles that read orders, each those that it [sees].
var readers = httpapi.Only(auth.Customer, auth.Staff, auth.Operator)

var (
	errNoEstablishment = fault.New(fault.NotFound, "no such establishment")
	errNoOrder         = fault.New(fault.NotFound, "no such order")
)

// EstablishmentPath is the part of an input that names an establishment. It is exported because only then are embedded
// fields read.
type EstablishmentPath struct {
	ID httpapi.ID `path:"id" doc:"The establishment's id."`
}

// OrderPath is the part of an input that names an order.
type OrderPath struct {
	ID httpapi.ID `path:"id" doc:"The order's id."`
}

// LogAttr implements [httpapi.About].
func (p OrderPath) LogAttr() slog.Attr { return slog.Any("order_id", p.ID) }

// caller is the identity behind a request that the guard let in.
func caller(ctx context.Context) auth.Identity {
	identity, _ := auth.FromContext(ctx)
	return identity
}

// manages says whether the caller may change an establishment: its staff, or the operator.
func manages(who auth.Identity, establishmentID uuid.UUID) bool {
	return who.Role == auth.Operator || who.Role == auth.Staff && who.EstablishmentID == establishmentID
}

// sees says whether the caller may know of an order: its customer, the staff of its establishment and the operator. To
// everybody else it does not exist.
func sees(who auth.Identity, order kitchen.Order) bool {
	switch who.Role {
	case auth.Customer:
		return order.UserID == who.Subject
	case auth.Staff:
		return order.EstablishmentID == who.EstablishmentID
	}
	return who.Role == auth.Operator
}

// visibleOrder returns the order if it exists for the caller.
func (s server) visibleOrder(ctx context.Context, id httpapi.ID) (kitchen.Order, error) {
	order, found, err := s.read.Order(ctx, id.UUID())
	if err == nil && (!found || !sees(caller(ctx), order)) {
		err = errNoOrder
	}
	return order, err
}
