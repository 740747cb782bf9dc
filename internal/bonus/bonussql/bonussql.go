// Package bonussql keeps bonus's database. Each engine implements bonus.Store and passes bonustest; none holds a rule:
// they fetch, lock and write sets, and the rules decide.
package bonussql

import (
	"embed"

	"kuhnya/internal/database"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the line that creates bonus's tables.
func Migrations() database.Line { return database.Embedded("bonus", files) }

// SQLite is bonus's store on SQLite.
type SQLite struct{ db *database.SQLite }

// NewSQLite returns the store of a database that has the tables of [Migrations] and of messagesql.
func NewSQLite(db *database.SQLite) SQLite { return SQLite{db} }
