package app

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/bonus"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/money"
)

// DemoEstablishment is one establishment of the demo data with its menu. Its ids are fixed, so that examples work.
type DemoEstablishment struct {
	kitchen.Establishment
	Staff string
	Menu  []kitchen.MenuDish
}

// Demo is the demo data of kitchen: three places to eat, with staff.
var Demo = []DemoEstablishment{
	demoEstablishment(1, "Столовая №1", "marta", 0,
		demoDish(1, 1, "borscht", "Borscht", "Beetroot soup with sour cream and garlic bread", 320_00, new(int64(40))),
		demoDish(1, 2, "pelmeni", "Pelmeni", "Beef and pork dumplings, twenty pieces", 450_00, new(int64(60))),
		demoDish(1, 3, "syrniki", "Syrniki", "Curd cheese pancakes with raspberry jam", 290_00, new(int64(25))),
		demoDish(1, 4, "kompot", "Kompot", "Stewed fruit drink, 300 ml", 90_00, nil)),
	demoEstablishment(2, "Хинкальная", "giorgi", 500_00,
		demoDish(2, 1, "khinkali", "Khinkali", "Five big dumplings with broth inside", 480_00, new(int64(50))),
		demoDish(2, 2, "khachapuri", "Adjarian khachapuri", "Bread boat with cheese, butter and egg", 560_00, new(int64(20))),
		demoDish(2, 3, "tarkhun", "Tarkhun", "Tarragon lemonade, 500 ml", 150_00, nil)),
	demoEstablishment(3, "Кофейня на углу", "anna", 0,
		demoDish(3, 1, "flat-white", "Flat white", "Double espresso with milk", 260_00, nil),
		demoDish(3, 2, "medovik", "Medovik", "Honey cake, a slice", 340_00, new(int64(12))),
		demoDish(3, 3, "croissant", "Croissant", "With butter, baked this morning", 210_00, new(int64(18)))),
}

func demoEstablishment(n int, name, staff string, minOrder int64, menu ...kitchen.MenuDish) DemoEstablishment {
	return DemoEstablishment{Staff: staff, Menu: menu, Establishment: kitchen.Establishment{
		ID: demoID(n, 0), Name: name, State: kitchen.Open, MinOrder: minOrder,
		AcceptTimeout: kitchen.DefaultAcceptTimeout, Timezone: "Europe/Moscow", Currency: money.RUB,
	}}
}

func demoDish(establishment, n int, externalID, name, description string, price int64, stock *int64) kitchen.MenuDish {
	return kitchen.MenuDish{
		ID: demoID(establishment, n), ExternalID: externalID, Name: name, Description: description, Price: price, InitialStock: stock,
	}
}

// DemoCampaigns is the demo data of bonus: what every establishment's customers get. Its ids are fixed, too.
var DemoCampaigns = []bonus.CreateCampaign{
	demoCampaign(1, "5 % back", bonus.Percent, 500),
	demoCampaign(2, "10 points for every order", bonus.Fixed, 10),
}

func demoCampaign(n int, name string, kind bonus.Kind, value int64) bonus.CreateCampaign {
	return bonus.CreateCampaign{ID: demoID(9, n), Caller: demoActor, Terms: bonus.Terms{
		Name: name, Kind: kind, Value: value, Timezone: "Europe/Moscow", Active: true,
	}}
}

// demoActor is who brings demo data, in audit trails.
const demoActor = "system:demo"

// demoID is an id of demo data: of the n-th establishment and its dishes, and of what belongs to none (9).
func demoID(n, dish int) uuid.UUID {
	return uuid.MustParse(fmt.Sprintf("01980000-0000-7000-8000-%06d%06d", n, dish))
}

// demoTimeout is for a start beside a process that keeps a database locked: it ends with what is in the way.
const demoTimeout = 20 * time.Second

// bringDemoCampaigns adds what is missing. A campaign that exists is left as it is, by its rules.
func bringDemoCampaigns(ctx context.Context, service *bonus.Service) error {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	for _, c := range DemoCampaigns {
		if _, _, err := service.CreateCampaign(ctx, c); err != nil {
			return fmt.Errorf("demo data: campaign %s: %w", c.Terms.Name, err)
		}
	}
	return nil
}

// bringDemoPlaces adds what is missing and leaves alone what was changed since.
func bringDemoPlaces(ctx context.Context, service *kitchen.Service, read kitchen.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	for _, d := range Demo {
		_, exists, err := read.Dish(ctx, d.Menu[0].ID) // the menu comes last, so it tells that all is there
		if err != nil {
			return fmt.Errorf("demo data: %w", err)
		}
		if exists {
			continue
		}
		if _, _, err := service.PutEstablishment(ctx, d.Establishment); err != nil {
			return fmt.Errorf("demo data: %s: %w", d.Name, err)
		}
		if err := service.PutMenu(ctx, d.ID, d.Menu, demoActor); err != nil {
			return fmt.Errorf("demo data: menu of %s: %w", d.Name, err)
		}
	}
	return nil
}
