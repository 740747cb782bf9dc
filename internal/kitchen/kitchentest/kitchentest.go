// Package kitchentest is the suite that every store of kitchen passes: what the rules promise, shown over that store,
// and what they rely on. A new engine is handed to [Run] and to nothing else.
package kitchentest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/audit"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/outbox"
)

// Engine is a fresh database behind a store.
type Engine struct {
	Store      kitchen.Store
	Outbox     outbox.Store
	Classify   func(error) batch.Class
	Violations func(context.Context) ([]audit.Violation, error)
}

// Run runs the suite. open makes a fresh database for each test.
func Run(t *testing.T, open func(*testing.T) Engine) {
	for name, test := range map[string]func(*testing.T, *world){
		"Place/replays_the_order_of_a_key":                      replaysTheOrderOfAKey,
		"Place/refuses_another_command_under_a_key":             refusesAnotherCommand,
		"Place/keeps_keys_of_users_apart":                       keepsKeysOfUsersApart,
		"Place/makes_one_order_of_parallel_repeats":             makesOneOrderOfParallelRepeats,
		"Place/makes_one_order_across_processes":                makesOneOrderAcrossProcesses,
		"Place/leaves_the_key_of_a_refusal_free":                leavesTheKeyOfARefusalFree,
		"Place/replays_after_closing_time":                      replaysAfterClosingTime,
		"Place/checks_in_the_documented_order":                  checksInTheDocumentedOrder,
		"Place/never_sells_what_is_not_there":                   neverSellsWhatIsNotThere,
		"Place/takes_all_lines_or_none":                         takesAllLinesOrNone,
		"Place/survives_dishes_named_in_opposite_order":         survivesOppositeOrder,
		"Place/refuses_amounts_beyond_64_bits":                  refusesOverflow,
		"Place/loses_a_key_to_another_transaction":              losesAKey,
		"Place/decides_again_after_losing_a_key":                decidesAgain,
		"Place/waits_for_the_decision_about_its_key":            waitsForTheDecision,
		"Change/returns_stock_once":                             returnsStockOnce,
		"Change/lets_one_of_cancel_and_reject_win":              letsOneWin,
		"Change/absorbs_keyless_repeats":                        absorbsKeylessRepeats,
		"Change/counts_deliveries_of_a_key":                     countsDeliveries,
		"Change/knows_a_late_duplicate_by_its_status":           knowsALateDuplicate,
		"Change/refuses_a_key_for_another_status":               refusesAKeyForAnotherStatus,
		"Change/refuses_what_the_table_does_not_have":           refusesTransitions,
		"Change/hides_orders_from_strangers":                    hidesOrders,
		"Change/returns_only_what_was_taken":                    returnsOnlyWhatWasTaken,
		"Change/decides_a_poll_in_order":                        decidesAPollInOrder,
		"Trace/goes_from_a_command_into_its_fact":               tellsTheTrace,
		"Trace/is_each_command_s_own_in_a_batch":                keepsTracesApart,
		"Menu/repeats_are_no_ops":                               menuRepeats,
		"Menu/missing_dishes_become_unavailable":                missingDishes,
		"Stock/expected_stock_protects_from_a_lost_sale":        expectedStock,
		"Stock/a_delta_counts_once_per_key":                     deltaOnce,
		"Store/overdue_orders_by_the_database_clock":            overdue,
		"Store/orders_are_listed_newest_first_and_page_through": listsOrders,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, open(t))
			test(t, w)
			w.mustBeClean()
		})
	}
}

// world is a service over a fresh database with one establishment that sells soup (100 counted) and tea (not counted).
type world struct {
	t       *testing.T
	ctx     context.Context
	engine  Engine
	service *kitchen.Service
	place   kitchen.Establishment
	soup    uuid.UUID
	tea     uuid.UUID
}

const stockOfSoup = 100

func newWorld(t *testing.T, engine Engine) *world {
	w := &world{t: t, ctx: t.Context(), engine: engine}
	w.service = w.newService()
	w.place = kitchen.Establishment{
		ID: uuid.New(), Name: "Canteen", State: kitchen.Open, AcceptTimeout: kitchen.DefaultAcceptTimeout,
		Timezone: "Europe/Moscow", Currency: money.RUB,
	}
	w.must(second(w.service.PutEstablishment(w.ctx, w.place)))
	w.soup, w.tea = uuid.New(), uuid.New()
	w.putMenu(soupAndTea(w)...)
	return w
}

func soupAndTea(w *world) []kitchen.MenuDish {
	return []kitchen.MenuDish{
		{ID: w.soup, ExternalID: "soup", Name: "Soup", Price: 450_00, InitialStock: new(int64(stockOfSoup))},
		{ID: w.tea, ExternalID: "tea", Name: "Tea", Price: 90_00},
	}
}

// newService is another process on the same database.
func (w *world) newService() *kitchen.Service {
	s := kitchen.New(w.engine.Store, kitchen.Options{
		Topics: event.Topics{Prefix: "test."}, Classify: w.engine.Classify, Wake: func() {},
	})
	w.t.Cleanup(func() { w.must(s.Close(context.Background())) })
	return s
}

func (w *world) putMenu(dishes ...kitchen.MenuDish) {
	w.t.Helper()
	w.must(w.service.PutMenu(w.ctx, w.place.ID, dishes, "staff:marta"))
}

func (w *world) order(user string, key idempotency.Key, lines ...kitchen.PlaceLine) kitchen.PlaceOrder {
	return kitchen.PlaceOrder{UserID: user, EstablishmentID: w.place.ID, Lines: lines, Key: key}
}

func line(dish uuid.UUID, quantity int64) kitchen.PlaceLine {
	return kitchen.PlaceLine{DishID: dish, Quantity: quantity}
}

func (w *world) mustPlace(cmd kitchen.PlaceOrder) kitchen.Order {
	w.t.Helper()
	placed, err := w.service.Place(w.ctx, cmd)
	w.must(err)
	return placed.Order
}

// callback is what the establishment reports of an order.
func (w *world) callback(order kitchen.Order, to lifecycle.Status, key idempotency.Key) kitchen.Change {
	return kitchen.Change{
		OrderID: order.ID, EstablishmentID: w.place.ID, To: to, Party: lifecycle.Staff, Actor: "staff:marta", Key: key,
	}
}

func (w *world) cancel(order kitchen.Order) kitchen.Change {
	return kitchen.Change{
		OrderID: order.ID, UserID: order.UserID, To: lifecycle.Cancelled, Party: lifecycle.Customer, Actor: "customer:" + order.UserID,
	}
}

func (w *world) mustChange(c kitchen.Change) kitchen.Order {
	w.t.Helper()
	changed, err := w.service.Change(w.ctx, c)
	w.must(err)
	return changed.Order
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) mustRefuse(err error, code fault.Code) {
	w.t.Helper()
	if fault.CodeOf(err) != code {
		w.t.Fatalf("got %v, want %s", err, code)
	}
}

func (w *world) stock(dish uuid.UUID) *int64 {
	w.t.Helper()
	d, found, err := w.engine.Store.Dish(w.ctx, dish)
	w.must(err)
	if !found {
		w.t.Fatal("dish vanished")
	}
	return d.OnHand()
}

func (w *world) mustHave(dish uuid.UUID, want int64) {
	w.t.Helper()
	if got := w.stock(dish); got == nil || *got != want {
		w.t.Fatalf("stock is %v, want %d", show(got), want)
	}
}

func show(n *int64) string {
	if n == nil {
		return "not counted"
	}
	return fmt.Sprint(*n)
}

func (w *world) events(order kitchen.Order) []kitchen.Event {
	w.t.Helper()
	events, err := w.engine.Store.Events(w.ctx, order.ID)
	w.must(err)
	return events
}

func (w *world) mustStandAt(order kitchen.Order, want lifecycle.Status) {
	w.t.Helper()
	got, _, err := w.engine.Store.Order(w.ctx, order.ID)
	w.must(err)
	if got.Status != want {
		w.t.Fatalf("order is %s, want %s", got.Status, want)
	}
}

// mustBeClean ends every test: whatever happened, the invariants hold, and each event has its message in the outbox.
func (w *world) mustBeClean() {
	w.t.Helper()
	violations, err := w.engine.Violations(w.ctx)
	w.must(err)
	for _, v := range violations {
		w.t.Error(v)
	}
	orders, err := w.engine.Store.Orders(w.ctx, kitchen.OrderFilter{}, uuid.Nil, 10_000)
	w.must(err)
	events := 0
	for _, order := range orders {
		events += len(w.events(order))
	}
	depth, err := w.engine.Outbox.Depth(w.ctx)
	w.must(err)
	if depth.Waiting != int64(events) {
		w.t.Errorf("%d messages for %d events", depth.Waiting, events)
	}
}

// inParallel runs f n times at once and returns when all have ended.
func inParallel(n int, f func(i int)) {
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		done.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	done.Wait()
}

func second[A any](_ A, _ bool, err error) error { return err }
