package kitchen

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"kuhnya/internal/fault"
)

// Limits of a menu.
const (
	MaxDishes      = 500
	MaxExternalID  = 100 // characters
	MaxDescription = 2000
	MaxPrice       = 1_000_000_000_00 // minor units
	MaxStock       = 1_000_000_000
)

// Dish is something an establishment sells.
type Dish struct {
	ID              uuid.UUID
	EstablishmentID uuid.UUID
	ExternalID      string // the establishment's own name for it, unique there
	Name            string
	Description     string
	Price           int64 // minor units of the establishment's currency
	Position        int64 // in the menu
	Listed          bool  // on the menu of the last PutMenu
	Available       bool  // not taken off by hand
	Counted         bool  // its portions are counted; otherwise there are always enough
	Stock           int64 // portions on hand, meaningful only while counted
}

// Orderable says whether the dish is on the menu and not taken off.
func (d Dish) Orderable() bool { return d.Listed && d.Available }

// MenuDish is one dish of a whole menu. InitialStock counts only when the dish is new.
type MenuDish struct {
	ID           uuid.UUID // of the dish if it is new; uuid.Nil lets the service make one
	ExternalID   string
	Name         string
	Description  string
	Price        int64
	InitialStock *int64
}

// PutMenu makes the dishes the whole menu of an establishment. Dishes that it doesn't name stay known but leave the
// menu; what was taken off by hand stays off, and stock stays as it is. Putting the same menu again changes nothing.
func (s *Service) PutMenu(ctx context.Context, establishmentID uuid.UUID, menu []MenuDish, actor string) error {
	if err := checkMenu(menu); err != nil {
		return err
	}
	return s.write(ctx, func(tx Tx) error {
		known, err := tx.Establishments([]uuid.UUID{establishmentID})
		if err != nil {
			return err
		}
		if _, exists := known[establishmentID]; !exists {
			return fault.New(fault.NotFound, "no such establishment")
		}
		before, err := tx.LockMenu(establishmentID)
		if err != nil {
			return fmt.Errorf("lock menu: %w", err)
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		dishes, stock := mergeMenu(establishmentID, before, menu)
		if err := tx.PutDishes(dishes); err != nil {
			return fmt.Errorf("put dishes: %w", err)
		}
		return changeStock(tx, stock, actor, now)
	})
}

// mergeMenu returns every dish as the new menu leaves it, and the first stock of those that are new and counted.
func mergeMenu(establishmentID uuid.UUID, before []Dish, menu []MenuDish) (dishes []Dish, stock []StockChange) {
	known := map[string]Dish{}
	for _, dish := range before {
		dish.Listed = false
		known[dish.ExternalID] = dish
	}
	for i, entry := range menu {
		dish, exists := known[entry.ExternalID]
		delete(known, entry.ExternalID)
		if !exists {
			dish = Dish{ID: entry.ID, EstablishmentID: establishmentID, ExternalID: entry.ExternalID, Available: true}
			if dish.ID == uuid.Nil {
				dish.ID = newID()
			}
			if entry.InitialStock != nil {
				dish.Counted = true
				stock = append(stock, StockChange{DishID: dish.ID, Delta: *entry.InitialStock})
			}
		}
		dish.Name, dish.Description, dish.Price = entry.Name, entry.Description, entry.Price
		dish.Position, dish.Listed = int64(i+1), true
		dishes = append(dishes, dish)
	}
	for _, dish := range known {
		dishes = append(dishes, dish)
	}
	return dishes, stock
}

func checkMenu(menu []MenuDish) error {
	if len(menu) > MaxDishes {
		return fault.Invalid("/dishes", "must have at most %d dishes", MaxDishes)
	}
	seen := map[string]bool{}
	for i, d := range menu {
		at := func(member string) string { return fmt.Sprintf("/dishes/%d/%s", i, member) }
		if n := utf8.RuneCountInString(d.ExternalID); n < 1 || n > MaxExternalID {
			return fault.Invalid(at("external_id"), "must have 1 to %d characters", MaxExternalID)
		}
		if seen[d.ExternalID] {
			return fault.Invalid(at("external_id"), "is in the menu twice")
		}
		seen[d.ExternalID] = true
		if err := checkDish(d.Name, d.Description, d.Price, at); err != nil {
			return err
		}
		if d.InitialStock != nil && (*d.InitialStock < 0 || *d.InitialStock > MaxStock) {
			return fault.Invalid(at("initial_stock"), "must be 0 to %d", MaxStock)
		}
	}
	return nil
}

func checkDish(name, description string, price int64, at func(member string) string) error {
	switch {
	case !named(name):
		return fault.Invalid(at("name"), "must have 1 to %d characters, not only blanks", MaxName)
	case utf8.RuneCountInString(description) > MaxDescription:
		return fault.Invalid(at("description"), "must have at most %d characters", MaxDescription)
	case price < 0 || price > MaxPrice:
		return fault.Invalid(at("price")+"/amount", "must be 0 to %d", int64(MaxPrice))
	}
	return nil
}

// DishPatch changes the members that are not nil.
type DishPatch struct {
	Name        *string
	Description *string
	Price       *int64
	Available   *bool
	Stock       *StockPatch
}

// Patched is a dish as a patch leaves it. Replayed says that its stock change was known by its key already.
type Patched struct {
	Dish     Dish
	Replayed bool
}

// PatchDish changes a dish. A dish of another establishment does not exist.
func (s *Service) PatchDish(ctx context.Context, id, establishmentID uuid.UUID, p DishPatch, actor string) (patched Patched, err error) {
	err = s.write(ctx, func(tx Tx) error {
		locked, err := tx.LockDishes([]uuid.UUID{id})
		if err != nil {
			return fmt.Errorf("lock dish: %w", err)
		}
		dish, exists := locked[id]
		if !exists || dish.EstablishmentID != establishmentID {
			return fault.New(fault.NotFound, "no such dish")
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		patched, err = p.apply(tx, dish, actor, now)
		return err
	})
	return patched, err
}

func (p DishPatch) apply(tx Tx, dish Dish, actor string, now time.Time) (patched Patched, err error) {
	dish.Name = or(p.Name, dish.Name)
	dish.Description = or(p.Description, dish.Description)
	dish.Price = or(p.Price, dish.Price)
	dish.Available = or(p.Available, dish.Available)
	if err := checkDish(dish.Name, dish.Description, dish.Price, func(m string) string { return "/" + m }); err != nil {
		return Patched{}, err
	}
	var change []StockChange
	if p.Stock != nil {
		if change, patched.Replayed, err = p.Stock.decide(tx, &dish, actor); err != nil {
			return Patched{}, err
		}
	}
	if err := tx.PutDishes([]Dish{dish}); err != nil {
		return Patched{}, fmt.Errorf("put dish: %w", err)
	}
	patched.Dish = dish
	return patched, changeStock(tx, change, actor, now)
}
