package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kuhnya/internal/bonus/bonussql"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/kitchen/kitchensql"
)

// lines are the migrations of each service's database.
var lines = map[string][]database.Line{
	Kitchen:       {kitchensql.Migrations(), messagesql.Migrations()},
	Establishment: {establishmentsql.Migrations(), messagesql.Migrations()},
	Bonus:         {bonussql.Migrations(), messagesql.Migrations()},
}

// DatabasePath is where a service keeps its SQLite database.
func DatabasePath(data, service string) string {
	return filepath.Join(data, service+".db")
}

// openDatabase migrates and opens a service's database.
func openDatabase(ctx context.Context, data, service string) (*database.SQLite, error) {
	path := DatabasePath(data, service)
	if err := database.MigrateSQLite(ctx, path, lines[service]...); err != nil {
		return nil, err
	}
	return database.OpenSQLite(path)
}

// refuseNewer returns [database.ErrNewerSchema] if a newer program has upgraded one of the databases. It touches none,
// so that a start which would fail on the second service's changes nothing of the first's.
func refuseNewer(data string, services []string) error {
	for _, service := range services {
		path := DatabasePath(data, service)
		if _, err := os.Stat(path); err != nil {
			continue // there is none yet
		}
		if err := database.CheckSQLite(path, lines[service]...); errors.Is(err, database.ErrNewerSchema) {
			return err
		}
	}
	return nil
}

// Migrate creates or upgrades the databases of all services.
func Migrate(ctx context.Context, data string) error {
	if err := refuseNewer(data, Services); err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	for _, service := range Services {
		if err := database.MigrateSQLite(ctx, DatabasePath(data, service), lines[service]...); err != nil {
			return err
		}
	}
	return nil
}

var errNoDatabase = errors.New("no database")

// openExisting opens a database that must be there, with exactly this program's schema, and changes nothing.
func openExisting(data, service string) (*database.SQLite, error) {
	path := DatabasePath(data, service)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w of %s in %s; is --data right?", errNoDatabase, service, data)
	}
	if err := database.CheckSQLite(path, lines[service]...); err != nil {
		return nil, err
	}
	return database.OpenSQLite(path)
}
