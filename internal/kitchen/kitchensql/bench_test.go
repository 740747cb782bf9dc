package kitchensql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/event"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/money"
)

const (
	benchClients = 64
	benchDishes  = 1000 // in all menus together
	benchRound   = 512  // orders on each side before the other side's turn
)

// BenchmarkPlace places keyed orders by 64 clients at once, with one transaction for each and with as many in one as
// come together. The rules are the same; the folder for temporary files should lie on a disk, since what is shared is
// the wait for it.
func BenchmarkPlace(b *testing.B) {
	for _, side := range []struct {
		name     string
		maxBatch int
	}{{"one_transaction_per_request", 1}, {"group_commit", 0}} {
		b.Run(side.name, func(b *testing.B) {
			c := newCanteen(b, side.maxBatch)
			b.ResetTimer()
			took := c.place(b, b.N)
			b.ReportMetric(float64(b.N)/took.Seconds(), "orders/s")
		})
	}
}

// BenchmarkGroupCommitRatio lets both ways take turns in one run, so that whatever else the machine does meets both
// alike, and reports how many times as many orders group commit takes.
func BenchmarkGroupCommitRatio(b *testing.B) {
	single, grouped := newCanteen(b, 1), newCanteen(b, 0)
	var alone, together time.Duration
	rounds := 0
	for b.Loop() {
		alone += single.place(b, benchRound)
		together += grouped.place(b, benchRound)
		rounds++
	}
	orders := float64(rounds * benchRound)
	b.ReportMetric(orders/alone.Seconds(), "single-orders/s")
	b.ReportMetric(orders/together.Seconds(), "grouped-orders/s")
	b.ReportMetric(alone.Seconds()/together.Seconds(), "x")
}

// canteen is a service over a database of its own, with menus that never run out.
type canteen struct {
	service *kitchen.Service
	menus   map[uuid.UUID][]uuid.UUID // dishes by establishment
	places  []uuid.UUID
}

func newCanteen(b *testing.B, maxBatch int) *canteen {
	db := databasetest.SQLite(b, kitchensql.Migrations(), messagesql.Migrations())
	store := kitchensql.NewSQLite(db)
	c := &canteen{menus: map[uuid.UUID][]uuid.UUID{}, service: kitchen.New(store, kitchen.Options{
		Topics: event.Topics{Prefix: "bench."}, Classify: database.BatchClass, Wake: func() {}, MaxBatch: maxBatch,
	})}
	b.Cleanup(func() {
		ctx := context.Background() // that of b ends before its cleanups
		must(b, c.service.Close(ctx))
		violations, err := store.Violations(ctx)
		must(b, err)
		if len(violations) > 0 {
			b.Errorf("violations: %v", violations)
		}
	})
	for range benchDishes / kitchen.MaxDishes {
		c.open(b)
	}
	return c
}

// open adds an establishment with a full menu.
func (c *canteen) open(b *testing.B) {
	place := kitchen.Establishment{
		ID: uuid.New(), Name: "Canteen", State: kitchen.Open, AcceptTimeout: kitchen.DefaultAcceptTimeout,
		Timezone: "Europe/Moscow", Currency: money.RUB,
	}
	_, _, err := c.service.PutEstablishment(b.Context(), place)
	must(b, err)
	menu := make([]kitchen.MenuDish, kitchen.MaxDishes)
	for i := range menu {
		menu[i] = kitchen.MenuDish{
			ID: uuid.New(), ExternalID: fmt.Sprint(i), Name: "Soup", Price: 450_00, InitialStock: new(int64(kitchen.MaxStock)),
		}
		c.menus[place.ID] = append(c.menus[place.ID], menu[i].ID)
	}
	must(b, c.service.PutMenu(b.Context(), place.ID, menu, "staff:marta"))
	c.places = append(c.places, place.ID)
}

// place has n orders placed and returns how long that took.
func (c *canteen) place(b *testing.B, n int) time.Duration {
	var left atomic.Int64
	left.Store(int64(n))
	begin := time.Now()
	var clients sync.WaitGroup
	for range min(benchClients, n) {
		clients.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := c.service.Place(b.Context(), c.order()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	return time.Since(begin)
}

// order asks for one to five dishes of one establishment.
func (c *canteen) order() kitchen.PlaceOrder {
	place := c.places[rand.IntN(len(c.places))]
	cmd := kitchen.PlaceOrder{UserID: "alice", EstablishmentID: place, Key: idempotency.Key(uuid.NewString())}
	for range 1 + rand.IntN(5) {
		dish := c.menus[place][rand.IntN(kitchen.MaxDishes)]
		cmd.Lines = append(cmd.Lines, kitchen.PlaceLine{DishID: dish, Quantity: 1})
	}
	return cmd
}
