package kitchentest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/fault"
	"kuhnya/internal/kitchen"
)

func (w *world) menu() []kitchen.Dish {
	w.t.Helper()
	dishes, err := w.engine.Store.Menu(w.ctx, w.place.ID, 0, 100)
	w.must(err)
	return dishes
}

func menuRepeats(t *testing.T, w *world) {
	w.mustPlace(w.order("alice", "", line(w.soup, 5)))
	w.offer(w.tea, false)
	before := w.menu()
	w.putMenu(soupAndTea(w)...)
	if diff := cmp.Diff(before, w.menu()); diff != "" {
		t.Error(diff)
	}
	w.mustHave(w.soup, stockOfSoup-5)
}

func missingDishes(t *testing.T, w *world) {
	w.putMenu(soupAndTea(w)[:1]...)
	if dishes := w.menu(); len(dishes) != 1 || dishes[0].ID != w.soup {
		t.Errorf("menu: %v", dishes)
	}
	_, err := w.service.Place(w.ctx, w.order("alice", "", line(w.tea, 1)))
	w.mustRefuse(err, fault.DishUnavailable)
	w.putMenu(soupAndTea(w)...)
	w.mustPlace(w.order("alice", "", line(w.tea, 1)))
	if w.stock(w.tea) != nil {
		t.Error("a dish that returned is counted")
	}
}

func (w *world) patchStock(p kitchen.StockPatch) error {
	_, err := w.service.PatchDish(w.ctx, w.soup, w.place.ID, kitchen.DishPatch{Stock: &p}, "staff:marta")
	return err
}

func expectedStock(_ *testing.T, w *world) {
	w.setStock(12)
	w.mustPlace(w.order("alice", "", line(w.soup, 5)))
	twenty := kitchen.StockPatch{Absolute: new(int64(20)), Expected: new(int64(12))}
	w.mustRefuse(w.patchStock(twenty), fault.StockChanged)
	w.mustHave(w.soup, 7)
	twenty.Expected = new(int64(7))
	w.must(w.patchStock(twenty))
	w.must(w.patchStock(twenty)) // the answer to the first was lost
	w.mustHave(w.soup, 20)
	_, err := w.service.PatchDish(w.ctx, w.soup, uuid.New(), kitchen.DishPatch{}, "staff:other")
	w.mustRefuse(err, fault.NotFound)
}

func deltaOnce(t *testing.T, w *world) {
	add := func(n int64, key idempotency.Key) error {
		return w.patchStock(kitchen.StockPatch{Delta: &n, Key: key})
	}
	inParallel(10, func(int) {
		if err := add(7, "k"); err != nil {
			t.Error(err)
		}
	})
	w.mustHave(w.soup, stockOfSoup+7)
	again, err := w.service.PatchDish(w.ctx, w.soup, w.place.ID,
		kitchen.DishPatch{Stock: &kitchen.StockPatch{Delta: new(int64(7)), Key: "k"}}, "staff:marta")
	if err != nil || !again.Replayed || again.Dish.Stock != stockOfSoup+7 {
		t.Errorf("repeat: %v, %v", again, err)
	}
	w.mustRefuse(add(8, "k"), fault.IdempotencyKeyReused)
	w.mustRefuse(add(-1000, "j"), fault.OutOfStock)
	w.mustRefuse(add(1, ""), fault.InvalidRequest)
	w.must(add(-107, "j"))
	w.mustHave(w.soup, 0)
}
