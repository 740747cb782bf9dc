package app

import (
	"context"

	"kuhnya/internal/bonus"
	"kuhnya/internal/bonus/bonusbus"
	"kuhnya/internal/bonus/bonushttp"
	"kuhnya/internal/bonus/bonussql"
	"kuhnya/internal/database"
	"kuhnya/internal/httpapi"
)

func buildBonus(ctx context.Context, u *unit, c Config, m *messaging) error {
	if err := u.open(ctx, c, m); err != nil {
		return err
	}
	store := bonussql.NewSQLite(u.db)
	service := bonus.New(store, bonus.Options{
		Topics: c.Topics, Classify: database.BatchClass, Encode: bonushttp.Encode, Wake: u.relay.Wake, Observe: u.metrics.Batch,
		Log: u.log,
	})
	u.onStop(service.Close)
	u.metrics.Claims(service.Undecided)
	u.register = func(api *httpapi.API) { bonushttp.Register(api, service, store) }
	u.violations = store.Violations
	if c.Demo {
		if err := bringDemoCampaigns(ctx, service); err != nil {
			return err
		}
	}
	return u.consume(ctx, c, m, bonusbus.Handler(service))
}
