package kitchensql_test

import (
	"testing"

	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/kitchen/kitchentest"
)

func TestSQLite(t *testing.T) {
	kitchentest.Run(t, func(t *testing.T) kitchentest.Engine {
		db := databasetest.SQLite(t, kitchensql.Migrations(), messagesql.Migrations())
		store := kitchensql.NewSQLite(db)
		return kitchentest.Engine{
			Store: store, Outbox: messagesql.NewOutbox(db), Classify: database.BatchClass, Violations: store.Violations,
		}
	})
}
