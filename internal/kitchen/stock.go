package kitchen

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/fault"
)

// StockChange is a change of a dish's stock by hand. What a dish has on hand is the sum of these minus what orders
// took and did not give back.
type StockChange struct {
	DishID uuid.UUID
	Delta  int64
	Actor  string
	Key    idempotency.Key // unique per actor and dish; "" for none
	At     time.Time
}

// StockPatch sets the stock to Absolute, if it still is Expected (where that is given), or adds Delta under Key.
type StockPatch struct {
	Absolute *int64
	Expected *int64
	Delta    *int64
	Key      idempotency.Key
}

// decide returns the change to write, if any, and brings the dish up to date. replayed says that the change was made
// before, under its key.
func (p StockPatch) decide(tx Tx, dish *Dish, actor string) (changes []StockChange, replayed bool, err error) {
	switch {
	case (p.Absolute == nil) == (p.Delta == nil):
		return nil, false, fault.Invalid("", "needs one of stock and stock_delta")
	case p.Delta == nil:
		changes, err = p.set(dish)
		return changes, false, err
	case p.Expected != nil:
		return nil, false, fault.Invalid("/expected_stock", "belongs to stock, not to stock_delta")
	case p.Key == "":
		return nil, false, fault.Invalid("/stock_delta", "needs an Idempotency-Key, or a repeat would count twice")
	}
	before, known, err := tx.StockChangeByKey(actor, dish.ID, p.Key)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("look up stock change: %w", err)
	case known && before.Delta != *p.Delta:
		return nil, false, fault.New(fault.IdempotencyKeyReused, "this Idempotency-Key stands for another change of this dish")
	case known:
		return nil, true, nil
	}
	changes, err = p.add(dish)
	return changes, false, err
}

// set is repeatable: a stock that is the wanted one already was not changed by somebody else.
func (p StockPatch) set(dish *Dish) ([]StockChange, error) {
	if *p.Absolute < 0 || *p.Absolute > MaxStock {
		return nil, fault.Invalid("/stock", "must be 0 to %d", MaxStock)
	}
	if dish.Counted && dish.Stock == *p.Absolute {
		return nil, nil
	}
	if p.Expected != nil && (!dish.Counted || dish.Stock != *p.Expected) {
		return nil, fault.New(fault.StockChanged, "the stock has changed meanwhile").With("stock", dish.OnHand())
	}
	change := StockChange{DishID: dish.ID, Delta: *p.Absolute - dish.Stock}
	dish.Counted, dish.Stock = true, *p.Absolute
	return []StockChange{change}, nil
}

func (p StockPatch) add(dish *Dish) ([]StockChange, error) {
	switch {
	case !dish.Counted:
		return nil, fault.Invalid("/stock_delta", "the portions of this dish are not counted; set stock first")
	case *p.Delta < -MaxStock || *p.Delta > MaxStock || dish.Stock+*p.Delta > MaxStock:
		return nil, fault.Invalid("/stock_delta", "the stock would leave 0 to %d", MaxStock)
	case dish.Stock+*p.Delta < 0:
		return nil, fault.New(fault.OutOfStock, "%d of %s left", dish.Stock, dish.Name).
			With("dish_id", dish.ID).With("left", dish.Stock)
	}
	dish.Stock += *p.Delta
	return []StockChange{{DishID: dish.ID, Delta: *p.Delta, Key: p.Key}}, nil
}

// OnHand is the stock as clients see it: nil where it isn't counted.
func (d Dish) OnHand() *int64 {
	if !d.Counted {
		return nil
	}
	return new(d.Stock)
}

// changeStock books changes and moves the stock by them; both or neither.
func changeStock(tx Tx, changes []StockChange, actor string, now time.Time) error {
	if len(changes) == 0 {
		return nil
	}
	amounts := map[uuid.UUID]int64{}
	for i := range changes {
		changes[i].Actor, changes[i].At = actor, now
		amounts[changes[i].DishID] += changes[i].Delta
	}
	if err := tx.InsertStockChanges(changes); err != nil {
		return fmt.Errorf("book stock changes: %w", err)
	}
	if err := tx.AddStock(amounts); err != nil {
		return fmt.Errorf("change stock: %w", err)
	}
	return nil
}
