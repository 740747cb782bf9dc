package kitchenhttp

import (
	"context"
	"fmt"
	"net/http"

	"kuhnya/internal/auth"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/money"
)

type putMenu struct {
	EstablishmentPath
	Body struct {
		Dishes []menuDish `json:"dishes" maxItems:"500"`
	}
}

type menuDish struct {
	ExternalID   string      `json:"external_id" minLength:"1" maxLength:"100" doc:"The establishment's own name for the dish; a dish keeps its id under it."`
	Name         string      `json:"name" minLength:"1" maxLength:"200"`
	Description  string      `json:"description,omitempty" maxLength:"2000"`
	Price        money.Money `json:"price"`
	InitialStock *int64      `json:"initial_stock,omitempty" minimum:"0" maximum:"1000000000" doc:"Counts only for a dish that is new; absent: portions aren't counted."`
}

func (s server) putMenu(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "put-menu", Method: http.MethodPut, Path: "/v1/establishments/{id}/menu", Tags: []string{tagMenu},
		Summary:     "Replace the whole menu",
		Description: "Dishes that are missing become unavailable. Stock is left alone; putting the same menu again changes nothing.",
		Access:      httpapi.Only(auth.Staff),
	}, func(ctx context.Context, in *putMenu) (*httpapi.Answer[httpapi.List[Dish]], error) {
		e, err := s.managedEstablishment(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		menu, err := in.menu(e.Currency)
		if err != nil {
			return nil, err
		}
		if err := s.service.PutMenu(ctx, e.ID, menu, caller(ctx).Actor()); err != nil {
			return nil, err
		}
		dishes, err := s.read.Menu(ctx, e.ID, 0, kitchen.MaxDishes)
		list := httpapi.List[Dish]{Items: make([]Dish, len(dishes))}
		for i, d := range dishes {
			list.Items[i] = showDish(d, e.Currency)
		}
		return httpapi.OK(list), err
	})
}

func (in *putMenu) menu(currency string) ([]kitchen.MenuDish, error) {
	menu := make([]kitchen.MenuDish, len(in.Body.Dishes))
	for i, d := range in.Body.Dishes {
		if err := inCurrency(d.Price, currency, fmt.Sprintf("/dishes/%d/price", i)); err != nil {
			return nil, err
		}
		menu[i] = kitchen.MenuDish{
			ExternalID: d.ExternalID, Name: d.Name, Description: d.Description, Price: d.Price.Amount, InitialStock: d.InitialStock,
		}
	}
	return menu, nil
}
