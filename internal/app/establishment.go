package app

import (
	"context"

	"kuhnya/internal/broker"
	"kuhnya/internal/database"
	"kuhnya/internal/establishment"
	"kuhnya/internal/establishment/establishmentbus"
	"kuhnya/internal/establishment/establishmenthttp"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/httpapi"
)

func buildEstablishment(ctx context.Context, u *unit, c Config, m *messaging) error {
	if err := u.open(ctx, c, m); err != nil {
		return err
	}
	sender, err := broker.NewSender(m.connection)
	if err != nil {
		return err
	}
	u.onStopClose(sender.Close)
	store := establishmentsql.NewSQLite(u.db)
	service := establishment.New(store, establishment.Options{
		Topics: c.Topics, Publisher: establishmentbus.Publisher{Sender: sender}, Classify: database.BatchClass, Log: u.log, Observe: u.metrics.Batch,
	})
	u.onStop(service.Close)
	sweeper := establishment.NewSweeper(service, establishment.SweepOptions{RepublishAfter: c.RepublishAfter})
	u.sweepers = append(u.sweepers, sweeper.Run)
	u.metrics.Presses(service.Untold, sweeper.Sent)
	u.register = func(api *httpapi.API) { establishmenthttp.Register(api, service, store) }
	u.backlog = func(ctx context.Context) (int64, error) {
		backlog, err := store.Backlog(ctx)
		return backlog.Steps, err
	}
	return u.consume(ctx, c, m, establishmentbus.Handler(service))
}
