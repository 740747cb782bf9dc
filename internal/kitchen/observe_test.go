package kitchen_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/fault"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/lifecycle"
)

func TestObserve_is_told_of_each_group(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	store := kitchensql.NewSQLite(databasetest.SQLite(t, kitchensql.Migrations(), messagesql.Migrations()))
	service := kitchen.New(store, kitchen.Options{
		Classify: database.BatchClass, Wake: func() {},
		Observe: func(group string, s batch.Stats) {
			mu.Lock()
			defer mu.Unlock()
			told[group] += s.Size
		},
	})
	order := kitchen.PlaceOrder{UserID: "alice", EstablishmentID: uuid.New(), Lines: []kitchen.PlaceLine{{DishID: uuid.New(), Quantity: 1}}}
	if _, err := service.Place(t.Context(), order); fault.CodeOf(err) == "" {
		t.Fatal(err)
	}
	unknown := kitchen.Change{OrderID: uuid.New(), To: lifecycle.Accepted, Party: lifecycle.Staff, Actor: "staff:marta"}
	for _, err := range service.ChangeAll(t.Context(), []kitchen.Change{unknown, unknown}) {
		if fault.CodeOf(err) != fault.NotFound {
			t.Fatal(err)
		}
	}
	if err := service.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if told["placings"] != 1 || told["changings"] != 2 || len(told) != 2 {
		t.Errorf("told of %v", told)
	}
}
