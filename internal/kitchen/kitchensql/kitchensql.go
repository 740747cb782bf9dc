// Package kitchensql keeps kitchen's database. Each engine implements kitchen.Store and passes kitchentest; none holds
// a rule: they fetch, lock and write sets, and the rules decide.
package kitchensql

import (
	"context"
	"embed"

	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/kitchen"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the line that creates kitchen's tables.
func Migrations() database.Line { return database.Embedded("kitchen", files) }

// SQLite is kitchen's store on SQLite.
type SQLite struct{ db *database.SQLite }

var _ kitchen.Store = SQLite{}

// NewSQLite returns the store of a database that has the tables of [Migrations] and of messagesql.
func NewSQLite(db *database.SQLite) SQLite { return SQLite{db} }

// Write implements [kitchen.Store].
func (s SQLite) Write(ctx context.Context, f func(kitchen.Tx) error) error {
	return s.db.Write(ctx, func(c *database.Conn) error { return f(sqliteTx{c, messagesql.Appender{Conn: c}}) })
}

// sqliteTx is one immediate transaction. It holds the write lock of the whole database, so rows that the rules ask to
// lock need no lock of their own.
type sqliteTx struct {
	*database.Conn
	messagesql.Appender
}
