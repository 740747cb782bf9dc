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

func newEstablishment(ctx context.Context, c Config, m *messaging) (*unit, error) {
	db, err := openDatabase(ctx, c.Data, Establishment)
	if err != nil {
		return nil, err
	}
	u, err := newUnit(Establishment, db, m, c.Log)
	if err != nil {
		return nil, err
	}
	sender, err := broker.NewSender(m.connection)
	if err != nil {
		return nil, err
	}
	u.cleanup = append(u.cleanup, sender.Close)
	store := establishmentsql.NewSQLite(db)
	log := c.Log.With("service", Establishment)
	service := establishment.New(store, establishment.Options{
		Topics: c.Topics, Publisher: establishmentbus.Publisher{Sender: sender}, Classify: database.BatchClass, Log: log,
	})
	sweeper := establishment.NewSweeper(service, establishment.SweepOptions{RepublishAfter: c.RepublishAfter})
	u.sweepers = append(u.sweepers, sweeper.Run)
	u.register = func(api *httpapi.API) { establishmenthttp.Register(api, service, store) }
	u.close = service.Close
	return u, u.consume(ctx, c, m, establishmentbus.Handler(service))
}
