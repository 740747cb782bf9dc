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

func buildKitchen(ctx context.Context, u *unit, c Config, m *messaging) error {
	if err := u.open(ctx, c, m); err != nil {
		return err
	}
	store := kitchensql.NewSQLite(u.db)
	service := kitchen.New(store, kitchen.Options{
		Topics: c.Topics, Classify: database.BatchClass, Wake: u.relay.Wake, Observe: u.metrics.Batch, Log: u.log,
	})
	u.onStop(service.Close)
	sweeper := kitchen.NewTimeoutSweeper(service, kitchenbus.CallbackLog{Admin: m.admin, Topics: c.Topics}, u.log)
	u.sweepers = append(u.sweepers, sweeper.Run)
	u.metrics.Claims(service.Undecided)
	u.metrics.TimeOuts(sweeper.TimedOut)
	hub := &kitchenbus.Hub{}
	feed, err := kitchenbus.NewFeed(m.connection, c.Topics, hub, u.log)
	if err != nil {
		return err
	}
	u.onStopClose(feed.Close)
	u.sweepers = append(u.sweepers, feed.Run)
	u.register = func(api *httpapi.API) { kitchenhttp.Register(api, service, store, hub) }
	u.stuck, u.violations = store.CountOverdue, store.Violations
	if c.Demo {
		if err := bringDemoPlaces(ctx, service, store); err != nil {
			return err
		}
	}
	return u.consume(ctx, c, m, kitchenbus.Handler(service))
}
