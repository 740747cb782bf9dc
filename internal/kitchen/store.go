package kitchen

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/lifecycle"
	"kuhnya/outbox"
)

// Store is kitchen's database. Its methods take and return sets, so that a batch of commands costs as many round trips
// as one command.
type Store interface {
	Reader
	// Write runs f in one transaction. It commits if f returns nil, else nothing of it remains. f may run again after
	// an error of the class batch.Again or batch.Busy, so it keeps no state from a run before.
	Write(ctx context.Context, f func(Tx) error) error
}

// Tx is what rules may do inside one write transaction.
type Tx interface {
	Clock
	PlacingTx
	ChangingTx
	MenuTx
}

// Clock is the database's clock: the only one by which deadlines are judged.
type Clock interface {
	Now() (time.Time, error)
}

// UserKey names an order by its client's key. The user is part of it: a key of one user means nothing for another.
type UserKey struct {
	UserID string
	Key    idempotency.Key
}

// PlacingTx is what placing orders needs.
type PlacingTx interface {
	// OrdersByKey returns the orders that exist under the keys.
	OrdersByKey(keys []UserKey) (map[UserKey]Order, error)
	Establishments(ids []uuid.UUID) (map[uuid.UUID]Establishment, error)
	// LockDishes locks the dishes in the order of their ids until the transaction ends, and returns them.
	LockDishes(ids []uuid.UUID) (map[uuid.UUID]Dish, error)
	// InsertOrders inserts orders with their lines, and leaves out those that lost a unique index to another
	// transaction. It returns the ids that it inserted; only those exist.
	InsertOrders(orders []Order) ([]uuid.UUID, error)
	InsertEvents(events []Event) error
	// AddStock adds to (or takes from) the stock of dishes.
	AddStock(amounts map[uuid.UUID]int64) error
	AppendOutbox(messages []outbox.Message) error
}

// ChangingTx is what changing the status of orders needs.
type ChangingTx interface {
	// LockOrders locks the rows of the orders until the transaction ends, and returns them without their lines.
	LockOrders(ids []uuid.UUID) (map[uuid.UUID]Order, error)
	// EventsOf returns the whole history of the orders by seq.
	EventsOf(ids []uuid.UUID) (map[uuid.UUID][]Event, error)
	UpdateStatuses(orders []Order) error
	InsertEvents(events []Event) error
	// UpdateDeliveries stores Key, Deliveries and LastDeliveryAt of events that exist.
	UpdateDeliveries(events []Event) error
	LinesOf(ids []uuid.UUID) (map[uuid.UUID][]Line, error)
	AddStock(amounts map[uuid.UUID]int64) error
	AppendOutbox(messages []outbox.Message) error
}

// MenuTx is what keeping establishments and menus needs.
type MenuTx interface {
	Establishments(ids []uuid.UUID) (map[uuid.UUID]Establishment, error)
	PutEstablishment(e Establishment) error
	LockDishes(ids []uuid.UUID) (map[uuid.UUID]Dish, error)
	// LockMenu locks all dishes that the establishment ever listed, and returns them.
	LockMenu(establishmentID uuid.UUID) ([]Dish, error)
	// PutDishes inserts or replaces dishes, all but their stock: that is AddStock's.
	PutDishes(dishes []Dish) error
	AddStock(amounts map[uuid.UUID]int64) error
	// StockChangeByKey returns the change that a caller made to a dish under a key.
	StockChangeByKey(actor string, dishID uuid.UUID, key idempotency.Key) (StockChange, bool, error)
	InsertStockChanges(changes []StockChange) error
}

// Reader answers questions from one snapshot each.
type Reader interface {
	Order(ctx context.Context, id uuid.UUID) (Order, bool, error)
	OrderByKey(ctx context.Context, key UserKey) (Order, bool, error)
	// Orders returns up to limit orders, newest first, that match the filter and are older than before (uuid.Nil: all).
	Orders(ctx context.Context, filter OrderFilter, before uuid.UUID, limit int) ([]Order, error)
	Events(ctx context.Context, orderID uuid.UUID) ([]Event, error)
	Establishment(ctx context.Context, id uuid.UUID) (Establishment, bool, error)
	// ListEstablishments returns up to limit establishments by id, after the given one.
	ListEstablishments(ctx context.Context, after uuid.UUID, limit int) ([]Establishment, error)
	Dish(ctx context.Context, id uuid.UUID) (Dish, bool, error)
	// Menu returns up to limit dishes listed by the establishment, in menu order, after the given position.
	Menu(ctx context.Context, establishmentID uuid.UUID, after int64, limit int) ([]Dish, error)
	// Overdue returns the ids of up to limit placed orders whose accept deadline is past by the database's clock.
	Overdue(ctx context.Context, limit int) ([]uuid.UUID, error)
	// CountOverdue counts all of those.
	CountOverdue(ctx context.Context) (int64, error)
}

// OrderFilter selects orders; zero members select everything.
type OrderFilter struct {
	UserID          string
	EstablishmentID uuid.UUID
	Status          lifecycle.Status
	Key             idempotency.Key
}
