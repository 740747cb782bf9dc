package kitchentest

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/fault"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

func replaysTheOrderOfAKey(t *testing.T, w *world) {
	cmd := w.order("alice", "k", line(w.soup, 2), line(w.tea, 1))
	first := w.mustPlace(cmd)
	again, err := w.service.Place(w.ctx, cmd)
	w.must(err)
	if !again.Replayed {
		t.Error("not marked as replayed")
	}
	if diff := cmp.Diff(first, again.Order); diff != "" {
		t.Error(diff)
	}
	w.mustHave(w.soup, stockOfSoup-2)
	if first.Total != (money.Money{Amount: 990_00, Currency: money.RUB}) {
		t.Errorf("total is %v", first.Total)
	}
	w.mustChange(w.callback(first, lifecycle.Accepted, ""))
	if again, err = w.service.Place(w.ctx, cmd); err != nil || again.Order.Status != lifecycle.Accepted {
		t.Errorf("replay shows %s, %v, want the order as it is now", again.Order.Status, err)
	}
}

func refusesAnotherCommand(_ *testing.T, w *world) {
	cmd := w.order("alice", "k", line(w.soup, 2))
	w.mustPlace(cmd)
	_, err := w.service.Place(w.ctx, w.order("alice", "k", line(w.soup, 3)))
	w.mustRefuse(err, fault.IdempotencyKeyReused)
	w.mustPlace(cmd)
	w.mustHave(w.soup, stockOfSoup-2)
}

func keepsKeysOfUsersApart(t *testing.T, w *world) {
	alice := w.mustPlace(w.order("alice", "k", line(w.soup, 1)))
	bob := w.mustPlace(w.order("bob", "k", line(w.soup, 1)))
	if alice.ID == bob.ID || bob.UserID != "bob" {
		t.Errorf("bob got %s of %s", bob.ID, bob.UserID)
	}
}

func makesOneOrderOfParallelRepeats(t *testing.T, w *world) {
	oneOrder(t, w, func(int) *kitchen.Service { return w.service })
}

func makesOneOrderAcrossProcesses(t *testing.T, w *world) {
	services := []*kitchen.Service{w.service, w.newService()}
	oneOrder(t, w, func(i int) *kitchen.Service { return services[i%2] })
}

func oneOrder(t *testing.T, w *world, service func(i int) *kitchen.Service) {
	var mu sync.Mutex
	created, ids := 0, map[uuid.UUID]bool{}
	inParallel(50, func(i int) {
		placed, err := service(i).Place(w.ctx, w.order("alice", "k", line(w.soup, 1)))
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
			return
		}
		ids[placed.Order.ID] = true
		if !placed.Replayed {
			created++
		}
	})
	if created != 1 || len(ids) != 1 {
		t.Errorf("%d created, %d ids", created, len(ids))
	}
	w.mustHave(w.soup, stockOfSoup-1)
}

func leavesTheKeyOfARefusalFree(_ *testing.T, w *world) {
	w.setStock(1)
	cmd := w.order("alice", "k", line(w.soup, 2))
	_, err := w.service.Place(w.ctx, cmd)
	w.mustRefuse(err, fault.OutOfStock)
	w.setStock(5)
	w.mustPlace(cmd)
	w.mustHave(w.soup, 3)
}

func (w *world) setStock(n int64) {
	w.t.Helper()
	_, err := w.service.PatchDish(w.ctx, w.soup, w.place.ID, kitchen.DishPatch{Stock: &kitchen.StockPatch{Absolute: &n}}, "staff:marta")
	w.must(err)
}

func (w *world) setState(state kitchen.State) {
	w.t.Helper()
	_, err := w.service.PatchEstablishment(w.ctx, w.place.ID, kitchen.EstablishmentPatch{State: &state})
	w.must(err)
}

func replaysAfterClosingTime(_ *testing.T, w *world) {
	cmd := w.order("alice", "k", line(w.soup, 1))
	w.mustPlace(cmd)
	w.setState(kitchen.Closed)
	w.mustPlace(cmd)
	_, err := w.service.Place(w.ctx, w.order("alice", "other", line(w.soup, 1)))
	w.mustRefuse(err, fault.EstablishmentClosed)
}

// checksInTheDocumentedOrder breaks everything at once and mends it step by step.
func checksInTheDocumentedOrder(_ *testing.T, w *world) {
	minimum := int64(1000_00)
	_, err := w.service.PatchEstablishment(w.ctx, w.place.ID, kitchen.EstablishmentPatch{MinOrder: &minimum})
	w.must(err)
	w.setStock(1)
	w.setState(kitchen.Closed)
	w.offer(w.tea, false)
	wrong := &money.Money{Amount: 1, Currency: money.RUB}
	cmd := w.order("alice", "k", line(uuid.New(), 1), line(w.tea, 1), kitchen.PlaceLine{DishID: w.soup, Quantity: 2, ExpectedPrice: wrong})
	refuse := func(code fault.Code) {
		w.t.Helper()
		_, err := w.service.Place(w.ctx, cmd)
		w.mustRefuse(err, code)
	}
	refuse(fault.EstablishmentClosed)
	w.setState(kitchen.Busy)
	refuse(fault.InvalidRequest)
	cmd.Lines = cmd.Lines[1:]
	refuse(fault.DishUnavailable)
	w.offer(w.tea, true)
	refuse(fault.PriceChanged)
	cmd.Lines[1].ExpectedPrice = nil
	refuse(fault.BelowMinimum)
	cmd.Lines[1].Quantity = 3
	refuse(fault.OutOfStock)
	w.setStock(3)
	w.mustPlace(cmd)
}

func (w *world) offer(dish uuid.UUID, available bool) {
	w.t.Helper()
	_, err := w.service.PatchDish(w.ctx, dish, w.place.ID, kitchen.DishPatch{Available: &available}, "staff:marta")
	w.must(err)
}

func neverSellsWhatIsNotThere(t *testing.T, w *world) {
	w.setStock(1)
	var mu sync.Mutex
	sold := 0
	inParallel(50, func(int) {
		_, err := w.service.Place(w.ctx, w.order("alice", "", line(w.soup, 1)))
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			sold++
		case fault.CodeOf(err) != fault.OutOfStock:
			t.Error(err)
		}
	})
	if sold != 1 {
		t.Errorf("sold %d of 1", sold)
	}
	w.mustHave(w.soup, 0)
}

func takesAllLinesOrNone(_ *testing.T, w *world) {
	w.setStock(1)
	_, err := w.service.Place(w.ctx, w.order("alice", "", line(w.tea, 1), line(w.soup, 1), line(w.soup, 1)))
	w.mustRefuse(err, fault.OutOfStock)
	w.mustHave(w.soup, 1)
}

func survivesOppositeOrder(t *testing.T, w *world) {
	stew := uuid.New()
	w.putMenu(append(soupAndTea(w), kitchen.MenuDish{ID: stew, ExternalID: "stew", Name: "Stew", Price: 1, InitialStock: new(int64(stockOfSoup))})...)
	services := []*kitchen.Service{w.service, w.newService()}
	inParallel(100, func(i int) {
		lines := []kitchen.PlaceLine{line(w.soup, 1), line(stew, 1)}
		if i%2 == 0 {
			slices.Reverse(lines)
		}
		if _, err := services[i%3%2].Place(w.ctx, w.order("alice", "", lines...)); err != nil {
			t.Error(err)
		}
	})
	w.mustHave(w.soup, 0)
	w.mustHave(stew, 0)
}

func refusesOverflow(_ *testing.T, w *world) {
	w.must(w.engine.Store.Write(w.ctx, func(tx kitchen.Tx) error {
		dishes, err := tx.LockDishes([]uuid.UUID{w.tea})
		if err != nil {
			return err
		}
		dear := dishes[w.tea]
		dear.Price = math.MaxInt64 / 2
		return tx.PutDishes([]kitchen.Dish{dear})
	}))
	_, err := w.service.Place(w.ctx, w.order("alice", "", line(w.tea, 3)))
	w.mustRefuse(err, fault.InvalidRequest)
	_, err = w.service.Place(w.ctx, w.order("alice", "", line(w.tea, 1), line(w.tea, 1), line(w.tea, 1)))
	w.mustRefuse(err, fault.InvalidRequest)
}

// losesAKey is the promise that M1 rests on: an insert under a key that is taken inserts nothing and says so.
func losesAKey(t *testing.T, w *world) {
	taken := w.mustPlace(w.order("alice", "k", line(w.soup, 1)))
	rival := taken
	rival.ID = uuid.New()
	err := w.engine.Store.Write(w.ctx, func(tx kitchen.Tx) error {
		inserted, err := tx.InsertOrders([]kitchen.Order{rival})
		if err == nil && len(inserted) != 0 {
			t.Errorf("inserted %v beside %s", inserted, taken.ID)
		}
		return errors.Join(err, errStop)
	})
	if !errors.Is(err, errStop) {
		t.Error(err)
	}
}

var errStop = errors.New("stop")

// rivalStore is a store in which, once, another transaction inserts under a key before the rules do.
type rivalStore struct {
	kitchen.Store
	rival *kitchen.Order // nil once it was there
}

func (s *rivalStore) Write(ctx context.Context, f func(kitchen.Tx) error) error {
	return s.Store.Write(ctx, func(tx kitchen.Tx) error { return f(rivalTx{tx, s}) })
}

type rivalTx struct {
	kitchen.Tx
	store *rivalStore
}

func (t rivalTx) InsertOrders(orders []kitchen.Order) ([]uuid.UUID, error) {
	if rival := t.store.rival; rival != nil {
		t.store.rival = nil
		rival.UserID, rival.Key = orders[0].UserID, orders[0].Key
		if _, err := t.Tx.InsertOrders([]kitchen.Order{*rival}); err != nil {
			return nil, err
		}
	}
	return t.Tx.InsertOrders(orders)
}

// decidesAgain has a batch lose a key at its insert. It must answer with an order that exists, and write nothing for
// one that does not.
func decidesAgain(t *testing.T, w *world) {
	rival := w.mustPlace(w.order("bob", "", line(w.soup, 1)))
	rival.ID, rival.Lines = uuid.New(), nil
	w.engine.Store = &rivalStore{w.engine.Store, &rival}
	placed, err := w.newService().Place(w.ctx, w.order("alice", "k", line(w.soup, 1)))
	w.must(err)
	if _, exists, err := w.engine.Store.Order(w.ctx, placed.Order.ID); err != nil || !exists {
		t.Errorf("answered with an order that does not exist, %v", err)
	}
	w.mustHave(w.soup, stockOfSoup-2)
}

// waitsForTheDecision holds the database up: repeats of a key wait two seconds for the first, then say that it is in
// progress; afterwards the key is a replay.
func waitsForTheDecision(t *testing.T, w *world) {
	held, release := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		err := w.engine.Store.Write(w.ctx, func(tx kitchen.Tx) error {
			_, err := tx.LockDishes([]uuid.UUID{w.soup})
			close(held)
			<-release
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	cmd := w.order("alice", "k", line(w.soup, 1))
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := w.service.Place(w.ctx, cmd); err != nil {
			t.Error(err)
		}
	})
	for w.service.Undecided() == 0 {
		runtime.Gosched()
	}
	_, err := w.service.Place(w.ctx, cmd)
	w.mustRefuse(err, fault.RequestInProgress)
	close(release)
	holder.Wait()
	first.Wait()
	if placed, err := w.service.Place(w.ctx, cmd); err != nil || !placed.Replayed {
		t.Errorf("got %v, %v, want a replay", placed, err)
	}
}
