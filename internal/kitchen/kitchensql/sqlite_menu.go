package kitchensql

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/database"
	"kuhnya/internal/kitchen"
)

const establishmentColumns = `id, name, state, min_order, accept_timeout_seconds, timezone, currency`

func scanEstablishment(r database.Row) kitchen.Establishment {
	return kitchen.Establishment{
		ID: r.UUID(0), Name: r.Text(1), State: kitchen.State(r.Text(2)), MinOrder: r.Int(3),
		AcceptTimeout: time.Duration(r.Int(4)) * time.Second, Timezone: r.Text(5), Currency: r.Text(6),
	}
}

// Establishments implements [kitchen.PlacingTx].
func (t sqliteTx) Establishments(ids []uuid.UUID) (map[uuid.UUID]kitchen.Establishment, error) {
	found := map[uuid.UUID]kitchen.Establishment{}
	for _, id := range ids {
		err := t.Query(`SELECT `+establishmentColumns+` FROM establishments WHERE id = ?`, func(r database.Row) error {
			found[id] = scanEstablishment(r)
			return nil
		}, id)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// PutEstablishment implements [kitchen.MenuTx].
func (t sqliteTx) PutEstablishment(e kitchen.Establishment) error {
	return t.Exec(`INSERT INTO establishments (`+establishmentColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, state = excluded.state, min_order = excluded.min_order,
			accept_timeout_seconds = excluded.accept_timeout_seconds, timezone = excluded.timezone, currency = excluded.currency`,
		e.ID, e.Name, string(e.State), e.MinOrder, int64(e.AcceptTimeout/time.Second), e.Timezone, e.Currency)
}

// Establishment implements [kitchen.Reader].
func (s SQLite) Establishment(ctx context.Context, id uuid.UUID) (e kitchen.Establishment, found bool, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT `+establishmentColumns+` FROM establishments WHERE id = ?`, func(r database.Row) error {
			e, found = scanEstablishment(r), true
			return nil
		}, id)
	})
	return e, found, err
}

// ListEstablishments implements [kitchen.Reader].
func (s SQLite) ListEstablishments(ctx context.Context, after uuid.UUID, limit int) (list []kitchen.Establishment, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT `+establishmentColumns+` FROM establishments WHERE id > ? ORDER BY id LIMIT ?`, func(r database.Row) error {
			list = append(list, scanEstablishment(r))
			return nil
		}, after, limit)
	})
	return list, err
}

const dishColumns = `id, establishment_id, external_id, name, description, price, position, listed, available, counted, stock`

func scanDish(r database.Row) kitchen.Dish {
	return kitchen.Dish{
		ID: r.UUID(0), EstablishmentID: r.UUID(1), ExternalID: r.Text(2), Name: r.Text(3), Description: r.Text(4),
		Price: r.Int(5), Position: r.Int(6), Listed: r.Bool(7), Available: r.Bool(8), Counted: r.Bool(9), Stock: r.Int(10),
	}
}

// LockDishes implements [kitchen.PlacingTx].
func (t sqliteTx) LockDishes(ids []uuid.UUID) (map[uuid.UUID]kitchen.Dish, error) {
	dishes := map[uuid.UUID]kitchen.Dish{}
	for _, id := range ids {
		err := t.Query(`SELECT `+dishColumns+` FROM dishes WHERE id = ?`, func(r database.Row) error {
			dishes[id] = scanDish(r)
			return nil
		}, id)
		if err != nil {
			return nil, err
		}
	}
	return dishes, nil
}

// LockMenu implements [kitchen.MenuTx].
func (t sqliteTx) LockMenu(establishmentID uuid.UUID) (dishes []kitchen.Dish, err error) {
	err = t.Query(`SELECT `+dishColumns+` FROM dishes WHERE establishment_id = ? ORDER BY id`, func(r database.Row) error {
		dishes = append(dishes, scanDish(r))
		return nil
	}, establishmentID)
	return dishes, err
}

// PutDishes implements [kitchen.MenuTx].
func (t sqliteTx) PutDishes(dishes []kitchen.Dish) error {
	for _, d := range dishes {
		err := t.Exec(`INSERT INTO dishes (id, establishment_id, external_id, name, description, price, position, listed, available, counted)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description, price = excluded.price,
				position = excluded.position, listed = excluded.listed, available = excluded.available, counted = excluded.counted`,
			d.ID, d.EstablishmentID, d.ExternalID, d.Name, d.Description, d.Price, d.Position, d.Listed, d.Available, d.Counted)
		if err != nil {
			return err
		}
	}
	return nil
}

// AddStock implements [kitchen.PlacingTx].
func (t sqliteTx) AddStock(amounts map[uuid.UUID]int64) error {
	for id, amount := range amounts {
		if err := t.Exec(`UPDATE dishes SET stock = stock + ? WHERE id = ?`, amount, id); err != nil {
			return err
		}
	}
	return nil
}

// StockChangeByKey implements [kitchen.MenuTx].
func (t sqliteTx) StockChangeByKey(actor string, dishID uuid.UUID, key idempotency.Key) (change kitchen.StockChange, found bool, err error) {
	err = t.Query(`SELECT delta, at FROM stock_changes WHERE actor = ? AND dish_id = ? AND idempotency_key = ?`, func(r database.Row) error {
		change, found = kitchen.StockChange{DishID: dishID, Delta: r.Int(0), Actor: actor, Key: key, At: r.Time(1)}, true
		return nil
	}, actor, dishID, string(key))
	return change, found, err
}

// InsertStockChanges implements [kitchen.MenuTx].
func (t sqliteTx) InsertStockChanges(changes []kitchen.StockChange) error {
	for _, c := range changes {
		err := t.Exec(`INSERT INTO stock_changes (dish_id, delta, actor, idempotency_key, at) VALUES (?, ?, ?, ?, ?)`,
			c.DishID, c.Delta, c.Actor, keyOrNull(c.Key), c.At)
		if err != nil {
			return err
		}
	}
	return nil
}

// Dish implements [kitchen.Reader].
func (s SQLite) Dish(ctx context.Context, id uuid.UUID) (dish kitchen.Dish, found bool, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT `+dishColumns+` FROM dishes WHERE id = ?`, func(r database.Row) error {
			dish, found = scanDish(r), true
			return nil
		}, id)
	})
	return dish, found, err
}

// Menu implements [kitchen.Reader].
func (s SQLite) Menu(ctx context.Context, establishmentID uuid.UUID, after int64, limit int) (dishes []kitchen.Dish, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT `+dishColumns+` FROM dishes WHERE establishment_id = ? AND listed AND position > ? ORDER BY position LIMIT ?`,
			func(r database.Row) error {
				dishes = append(dishes, scanDish(r))
				return nil
			}, establishmentID, after, limit)
	})
	return dishes, err
}
