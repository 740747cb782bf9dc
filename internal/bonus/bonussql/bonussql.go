// Package bonussql keeps bonus's database. Each engine implements bonus.Store and passes bonustest; none holds a rule:
// they fetch, lock and write sets, and the rules decide.
package bonussql

import (
	"context"
	"embed"

	"kuhnya/internal/bonus"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the line that creates bonus's tables.
func Migrations() database.Line { return database.Embedded("bonus", files) }

// SQLite is bonus's store on SQLite.
type SQLite struct{ db *database.SQLite }

var _ bonus.Store = SQLite{}

// NewSQLite returns the store of a database that has the tables of [Migrations] and of messagesql.
func NewSQLite(db *database.SQLite) SQLite { return SQLite{db} }

// Write implements [bonus.Store].
func (s SQLite) Write(ctx context.Context, f func(bonus.Tx) error) error {
	return s.db.Write(ctx, func(c *database.Conn) error { return f(sqliteTx{c, messagesql.Appender{Conn: c}}) })
}

// sqliteTx is one immediate transaction. It holds the write lock of the whole database, so rows that the rules ask to
// lock need no lock of their own.
type sqliteTx struct {
	*database.Conn
	messagesql.Appender
}
