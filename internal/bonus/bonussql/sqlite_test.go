package bonussql_test

import (
	"testing"

	"kuhnya/internal/bonus/bonussql"
	"kuhnya/internal/bonus/bonustest"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
)

func TestSQLite(t *testing.T) {
	bonustest.Run(t, func(t *testing.T) bonustest.Engine {
		db := databasetest.SQLite(t, bonussql.Migrations(), messagesql.Migrations())
		store := bonussql.NewSQLite(db)
		return bonustest.Engine{
			Store: store, Outbox: messagesql.NewOutbox(db), Classify: database.BatchClass, Violations: store.Violations,
		}
	})
}
