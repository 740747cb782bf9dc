package app

import (
	"context"

	"kuhnya/internal/database"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/kitchen/kitchenbus"
	"kuhnya/internal/kitchen/kitchenhttp"
	"kuhnya/internal/kitchen/kitchensql"
)

func newKitchen(ctx context.Context, c Config, m *messaging) (*unit, error) {
	db, err := openDatabase(ctx, c.Data, Kitchen)
	if err != nil {
		return nil, err
	}
	u, err := newUnit(Kitchen, db, m, c.Log)
	if err != nil {
		return nil, err
	}
	store := kitchensql.NewSQLite(db)
	service := kitchen.New(store, kitchen.Options{Topics: c.Topics, Classify: database.BatchClass, Wake: u.relay.Wake})
	log := c.Log.With("service", Kitchen)
	sweeper := kitchen.NewTimeoutSweeper(service, kitchenbus.CallbackLog{Admin: m.admin, Topics: c.Topics}, log)
	u.sweepers = append(u.sweepers, sweeper.Run)
	u.register = func(api *httpapi.API) { kitchenhttp.Register(api, service, store) }
	u.close = service.Close
	if c.Demo {
		if err := bringDemoData(ctx, service, store); err != nil {
			return nil, err
		}
	}
	return u, u.consume(ctx, c, m, kitchenbus.Handler(service))
}
