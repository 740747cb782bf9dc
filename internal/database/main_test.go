package database_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"kuhnya/internal/database"
)

// TestMain lets a test start this binary as another process on a database: see TestMigrateSQLite.
func TestMain(m *testing.M) {
	if path := os.Getenv(migrateEnv); path != "" {
		os.Exit(migrateProcess(path))
	}
	os.Exit(m.Run())
}

// numbers is a line with one table.
func numbers() database.Line {
	return database.Line{Name: "numbers", Files: fstest.MapFS{"0001_numbers.sql": {Data: []byte(`-- +goose Up
CREATE TABLE numbers (n INTEGER NOT NULL CHECK (n < 1000), twice INTEGER) STRICT;`)}}}
}

// newFile returns the path of a database file with the tables of the lines.
func newFile(t *testing.T, lines ...database.Line) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	must(t, database.MigrateSQLite(t.Context(), path, lines...))
	return path
}

// open opens a handle as another process would have one.
func open(t *testing.T, path string) *database.SQLite {
	t.Helper()
	db, err := database.OpenSQLite(path)
	must(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func fresh(t *testing.T) *database.SQLite { return open(t, newFile(t, numbers())) }

func insert(n int64) func(*database.Conn) error {
	return func(c *database.Conn) error { return c.Exec(`INSERT INTO numbers (n) VALUES (?)`, n) }
}

// content is the numbers in the order of their insertion.
func content(t *testing.T, db *database.SQLite) (numbers []int64) {
	t.Helper()
	must(t, db.Read(t.Context(), func(c *database.Conn) error {
		return c.Query(`SELECT n FROM numbers ORDER BY rowid`, func(r database.Row) error {
			numbers = append(numbers, r.Int(0))
			return nil
		})
	}))
	return numbers
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustBe(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// ended is a context that is over.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
