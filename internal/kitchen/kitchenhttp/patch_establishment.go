package kitchenhttp

import (
	"context"
	"net/http"
	"time"

	"kuhnya/internal/auth"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/money"
)

type patchEstablishment struct {
	EstablishmentPath
	Body struct {
		State                *kitchen.State `json:"state,omitempty" enum:"open,busy,closed"`
		Accepting            *bool          `json:"accepting,omitempty" doc:"Instead of state: true opens, false closes."`
		MinOrder             *money.Money   `json:"min_order,omitempty"`
		AcceptTimeoutSeconds *int64         `json:"accept_timeout_seconds,omitempty" minimum:"1" maximum:"86400"`
	}
}

func (s server) patchEstablishment(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "patch-establishment", Method: http.MethodPatch, Path: "/v1/establishments/{id}", Tags: []string{tagMenu},
		Summary: "Open, pause or close an establishment, or change its limits", Access: httpapi.Only(auth.Staff, auth.Operator),
	}, func(ctx context.Context, in *patchEstablishment) (*httpapi.Answer[Establishment], error) {
		e, err := s.managedEstablishment(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		patch, err := in.patch(e)
		if err != nil {
			return nil, err
		}
		e, err = s.service.PatchEstablishment(ctx, e.ID, patch)
		return httpapi.OK(showEstablishment(e)), err
	})
}

// managedEstablishment returns the establishment if the caller may change it.
func (s server) managedEstablishment(ctx context.Context, id httpapi.ID) (kitchen.Establishment, error) {
	e, found, err := s.read.Establishment(ctx, id.UUID())
	if err == nil && (!found || !manages(caller(ctx), e.ID)) {
		err = errNoEstablishment
	}
	return e, err
}

func (in *patchEstablishment) patch(e kitchen.Establishment) (p kitchen.EstablishmentPatch, err error) {
	p.State, p.Accepting = in.Body.State, in.Body.Accepting
	if m := in.Body.MinOrder; m != nil {
		if err := inCurrency(*m, e.Currency, "/min_order"); err != nil {
			return p, err
		}
		p.MinOrder = &m.Amount
	}
	if seconds := in.Body.AcceptTimeoutSeconds; seconds != nil {
		p.AcceptTimeout = new(time.Duration(*seconds) * time.Second)
	}
	return p, nil
}
