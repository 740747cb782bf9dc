package establishment_test

import (
	"sync"
	"testing"

	"kuhnya/batch"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/establishment"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/establishment/establishmenttest"
	"kuhnya/internal/lifecycle"
)

func TestObserve_is_told_of_each_group(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	b := &board{T: t, store: establishmentsql.NewSQLite(databasetest.SQLite(t, establishmentsql.Migrations()))}
	b.service = establishment.New(b.store, establishment.Options{
		Publisher: &b.broker, Classify: database.BatchClass,
		Observe: func(group string, s batch.Stats) {
			mu.Lock()
			defer mu.Unlock()
			told[group] += s.Size
		},
	})
	press := establishment.Press{OrderID: b.placed(), EstablishmentID: establishmenttest.Place, Action: lifecycle.Accept}
	if _, err := b.service.Advance(t.Context(), press); err != nil {
		t.Fatal(err)
	}
	if err := b.service.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if told["mergings"] != 1 || told["pressings"] != 1 || told["markings"] != 1 || len(told) != 3 {
		t.Errorf("told of %v", told)
	}
}
