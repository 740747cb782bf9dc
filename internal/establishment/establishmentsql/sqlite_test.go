package establishmentsql_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/establishment"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/establishment/establishmenttest"
	"kuhnya/internal/event"
	"kuhnya/internal/lifecycle"
)

func open(t *testing.T) establishmentsql.SQLite {
	return establishmentsql.NewSQLite(databasetest.SQLite(t, establishmentsql.Migrations()))
}

func TestSQLite(t *testing.T) {
	establishmenttest.Run(t, func(t *testing.T) establishment.Store { return open(t) })
}

func TestAuditTickets(t *testing.T) {
	store, broker := open(t), &establishmenttest.Broker{}
	service := establishment.New(store, establishment.Options{
		Topics: event.Topics{}, Publisher: broker, Classify: database.BatchClass, Log: slog.New(slog.DiscardHandler),
	})
	shown, hidden := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	err := errors.Join(service.Merge(t.Context(), []establishment.Fact{
		establishment.Placed{OrderID: shown, EstablishmentID: establishmenttest.Place},
		establishment.Changed{OrderID: hidden, EstablishmentID: establishmenttest.Place, Seq: 2, To: lifecycle.Cancelled},
	})...)
	if err != nil {
		t.Fatal(err)
	}
	press := func(action lifecycle.Action) error {
		_, err := service.Advance(t.Context(), establishment.Press{
			OrderID: shown, EstablishmentID: establishmenttest.Place, Action: action,
		})
		return err
	}
	if err := errors.Join(press(lifecycle.Accept), press(lifecycle.Start)); err != nil {
		t.Fatal(err)
	}
	broker.Play(establishmenttest.Away)
	if err := press(lifecycle.MakeReady); err == nil {
		t.Fatal("published while the broker was away")
	}
	if err := service.Close(context.Background()); err != nil {
		t.Fatal(err)
	}

	var tickets []audit.Ticket
	for ticket, err := range store.AuditTickets(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		tickets = append(tickets, ticket)
	}
	want := []audit.Ticket{
		{ID: shown, Status: audit.SetOf(lifecycle.Ready), Sent: audit.SetOf(lifecycle.Accepted, lifecycle.Cooking)},
		{ID: hidden, Hidden: true, Status: audit.SetOf(lifecycle.Cancelled)},
	}
	if diff := cmp.Diff(want, tickets); diff != "" {
		t.Errorf("tickets (-want +got):\n%s", diff)
	}
	progress, err := store.AuditProgress(t.Context())
	if want := (establishmentsql.Progress{Tickets: 2, Shown: 1, KitchenSeqs: 3, Sent: 2, Unsent: 1}); err != nil || progress != want {
		t.Errorf("progress %+v, %v, want %+v", progress, err, want)
	}
}

// TestUnreadable_ticket is a row that some fault has spoilt: the facts of a poll that concern other orders are applied.
func TestUnreadable_ticket(t *testing.T) {
	db := databasetest.SQLite(t, establishmentsql.Migrations())
	service := establishment.New(establishmentsql.NewSQLite(db), establishment.Options{
		Topics: event.Topics{}, Publisher: &establishmenttest.Broker{}, Classify: database.BatchClass, Log: slog.New(slog.DiscardHandler),
	})
	facts := make([]establishment.Fact, 3)
	for i := range facts {
		facts[i] = establishment.Placed{OrderID: uuid.Must(uuid.NewV7()), EstablishmentID: establishmenttest.Place}
	}
	spoilt := facts[1].(establishment.Placed).OrderID
	err := errors.Join(service.Merge(t.Context(), facts[1:2])[0], db.Write(t.Context(), func(c *database.Conn) error {
		return c.Exec(`UPDATE tickets SET entered = x'00' WHERE order_id = ?`, spoilt)
	}))
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range service.Merge(t.Context(), facts) {
		if (err != nil) != (i == 1) {
			t.Errorf("fact %d: %v", i, err)
		}
	}
	if err := service.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
