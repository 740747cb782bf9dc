// Package establishmentsql keeps establishment's database. Each engine implements establishment.Store and passes
// establishmenttest; none holds a rule: they fetch, lock and write sets, and the rules decide.
package establishmentsql

import (
	"context"
	"embed"

	"kuhnya/internal/database"
	"kuhnya/internal/establishment"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the line that creates establishment's tables.
func Migrations() database.Line { return database.Embedded("establishment", files) }

// SQLite is establishment's store on SQLite.
type SQLite struct{ db *database.SQLite }

var _ establishment.Store = SQLite{}

// NewSQLite returns the store of a database that has the tables of [Migrations].
func NewSQLite(db *database.SQLite) SQLite { return SQLite{db} }

// Write implements [establishment.Store].
func (s SQLite) Write(ctx context.Context, f func(establishment.Tx) error) error {
	return s.db.Write(ctx, func(c *database.Conn) error { return f(sqliteTx{c}) })
}

// sqliteTx is one immediate transaction. It holds the write lock of the whole database, so rows that the rules ask to
// lock need no lock of their own.
type sqliteTx struct{ *database.Conn }
