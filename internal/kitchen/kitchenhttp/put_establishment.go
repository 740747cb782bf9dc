package kitchenhttp

import (
	"context"
	"net/http"
	"time"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/money"
)

type putEstablishment struct {
	EstablishmentPath
	Body struct {
		Name                 string         `json:"name" minLength:"1" maxLength:"200"`
		State                *kitchen.State `json:"state,omitempty" enum:"open,busy,closed" doc:"Absent: open."`
		MinOrder             *money.Money   `json:"min_order,omitempty" doc:"Absent: none."`
		AcceptTimeoutSeconds *int64         `json:"accept_timeout_seconds,omitempty" minimum:"1" maximum:"86400" doc:"Absent: 600."`
		Timezone             string         `json:"timezone" doc:"IANA name." example:"Europe/Moscow"`
		Currency             string         `json:"currency" pattern:"^[A-Z]{3}$" doc:"ISO 4217; can't change later."`
	}
}

func (s server) putEstablishment(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "put-establishment", Method: http.MethodPut, Path: "/v1/establishments/{id}", Tags: []string{tagMenu},
		Summary:     "Create or replace an establishment",
		Description: "The client makes the id, a UUID; putting the same again changes nothing.",
		Access:      httpapi.Only(auth.Operator), Success: []int{201, 200},
	}, func(ctx context.Context, in *putEstablishment) (*httpapi.Created[Establishment], error) {
		e := kitchen.Establishment{
			ID: in.ID.UUID(), Name: in.Body.Name, State: kitchen.Open, AcceptTimeout: kitchen.DefaultAcceptTimeout,
			Timezone: in.Body.Timezone, Currency: in.Body.Currency,
		}
		if in.Body.State != nil {
			e.State = *in.Body.State
		}
		if in.Body.AcceptTimeoutSeconds != nil {
			e.AcceptTimeout = time.Duration(*in.Body.AcceptTimeoutSeconds) * time.Second
		}
		if in.Body.MinOrder != nil {
			if err := inCurrency(*in.Body.MinOrder, e.Currency, "/min_order"); err != nil {
				return nil, err
			}
			e.MinOrder = in.Body.MinOrder.Amount
		}
		saved, created, err := s.service.PutEstablishment(ctx, e)
		return httpapi.Put(created, "/v1/establishments/"+in.ID.String(), showEstablishment(saved)), err
	})
}

// inCurrency refuses an amount in another currency than the establishment's.
func inCurrency(m money.Money, currency, pointer string) error {
	if m.Currency != currency {
		return fault.Invalid(pointer+"/currency", "must be the establishment's currency, %s", currency)
	}
	return nil
}
