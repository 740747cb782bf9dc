package kitchenhttp

import (
	"context"
	"net/http"

	"kuhnya/idempotency"
	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/money"
)

type patchDish struct {
	ID   httpapi.ID `path:"id" doc:"The dish's id."`
	Body struct {
		Name          *string      `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Description   *string      `json:"description,omitempty" maxLength:"2000"`
		Price         *money.Money `json:"price,omitempty"`
		Available     *bool        `json:"available,omitempty" doc:"false takes the dish off until it is put back."`
		Stock         *int64       `json:"stock,omitempty" minimum:"0" maximum:"1000000000" doc:"Portions on hand; a dish whose portions weren't counted is counted from now on."`
		ExpectedStock *int64       `json:"expected_stock,omitempty" minimum:"0" doc:"With stock: refuse if another number is on hand."`
		StockDelta    *int64       `json:"stock_delta,omitempty" doc:"Instead of stock: portions to add or, below zero, to remove. Needs an Idempotency-Key."`
	}
}

func (s server) patchDish(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "patch-dish", Method: http.MethodPatch, Path: "/v1/dishes/{id}", Tags: []string{tagMenu},
		Summary: "Change a dish, take it off or count its portions", Access: httpapi.Only(auth.Staff), HonoursKey: true,
		Codes: []fault.Code{fault.StockChanged, fault.OutOfStock, fault.IdempotencyKeyReused},
	}, func(ctx context.Context, in *patchDish) (*httpapi.Replayable[Dish], error) {
		who := caller(ctx)
		e, found, err := s.read.Establishment(ctx, who.EstablishmentID)
		if err == nil && !found {
			err = fault.New(fault.NotFound, "no such dish")
		}
		if err != nil {
			return nil, err
		}
		key, _ := httpapi.IdempotencyKey(ctx)
		patch, err := in.patch(e.Currency, idempotency.Key(key))
		if err != nil {
			return nil, err
		}
		patched, err := s.service.PatchDish(ctx, in.ID.UUID(), e.ID, patch, who.Actor())
		if err == nil && patched.Replayed {
			return httpapi.Replay(http.StatusOK, "", showDish(patched.Dish, e.Currency)), nil
		}
		return httpapi.Done(http.StatusOK, "", showDish(patched.Dish, e.Currency)), err
	})
}

func (in *patchDish) patch(currency string, key idempotency.Key) (kitchen.DishPatch, error) {
	b := in.Body
	p := kitchen.DishPatch{Name: b.Name, Description: b.Description, Available: b.Available}
	if b.Price != nil {
		if err := inCurrency(*b.Price, currency, "/price"); err != nil {
			return p, err
		}
		p.Price = &b.Price.Amount
	}
	if b.Stock != nil || b.ExpectedStock != nil || b.StockDelta != nil {
		p.Stock = &kitchen.StockPatch{Absolute: b.Stock, Expected: b.ExpectedStock, Delta: b.StockDelta, Key: key}
	}
	return p, nil
}
