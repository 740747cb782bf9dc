package establishmentsql_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/fstest"

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
	if err := press(lifecycle.Accept); err != nil {
		t.Fatal(err)
	}
	broker.Play(establishmenttest.Away)
	if err := press(lifecycle.Start); err == nil {
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
		{ID: shown, Status: audit.SetOf(lifecycle.Cooking), Sent: audit.SetOf(lifecycle.Accepted)},
		{ID: hidden, Hidden: true, Status: audit.SetOf(lifecycle.Cancelled)},
	}
	if diff := cmp.Diff(want, tickets); diff != "" {
		t.Errorf("tickets (-want +got):\n%s", diff)
	}
	progress, err := store.AuditProgress(t.Context())
	if want := (establishmentsql.Progress{Tickets: 2, Shown: 1, KitchenSeqs: 3, Sent: 1, Unsent: 1}); err != nil || progress != want {
		t.Errorf("progress %+v, %v, want %+v", progress, err, want)
	}
}

// TestMigrations upgrades a database that has a step from before steps had a trace.
func TestMigrations(t *testing.T) {
	first, err := fs.ReadFile(establishmentsql.Migrations().Files, "0001_establishment.sql")
	if err != nil {
		t.Fatal(err)
	}
	before := establishmentsql.Migrations()
	before.Files = fstest.MapFS{"0001_establishment.sql": {Data: first}}
	path := filepath.Join(t.TempDir(), "establishment.db")
	if err := database.MigrateSQLite(t.Context(), path, before); err != nil {
		t.Fatal(err)
	}
	order := uuid.Must(uuid.NewV7())
	write(t, path, `INSERT INTO tickets VALUES (?, 'A', x'01', 'accepted', '', x'5b5d', '', 0, 'RUB', 0, 2, 0, x'5b5d', 0, 0)`, order)
	write(t, path, `INSERT INTO ticket_steps VALUES (?, 1, 'accepted', 'why', 'k', x'00000000000000000000000000000001', 1, NULL)`, order)
	if err := database.MigrateSQLite(t.Context(), path, establishmentsql.Migrations()); err != nil {
		t.Fatal(err)
	}
	db, err := database.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	steps, err := establishmentsql.NewSQLite(db).StepsToSend(t.Context(), order)
	if err != nil || len(steps) != 1 || steps[0].Reason != "why" || steps[0].Trace != "" {
		t.Errorf("steps %+v, %v", steps, err)
	}
}

func write(t *testing.T, path, statement string, args ...any) {
	t.Helper()
	db, err := database.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(c *database.Conn) error { return c.Exec(statement, args...) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
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
