// Package databasetest opens databases for tests.
package databasetest

import (
	"path/filepath"
	"testing"

	"kuhnya/internal/database"
)

// SQLite returns a fresh database with the tables of the lines, closed when the test ends.
func SQLite(t testing.TB, lines ...database.Line) *database.SQLite {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	if err := database.MigrateSQLite(t.Context(), path, lines...); err != nil {
		t.Fatal(err)
	}
	db, err := database.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
