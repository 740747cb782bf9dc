package kitchen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// Limits of an order.
const (
	MaxLines    = 50
	MaxQuantity = 100
	MaxComment  = 500 // characters
)

// ErrLostKey says that another transaction inserted an order under the same client key first. The batch runs again and
// finds that order.
var ErrLostKey = errors.New("client key lost to another transaction")

// PlaceOrder is the command of a customer.
type PlaceOrder struct {
	UserID          string
	EstablishmentID uuid.UUID
	Lines           []PlaceLine
	Comment         string
	Key             idempotency.Key // "" for none: then every command is a new order
	Trace           string          // traceparent of the request, may be empty
}

// PlaceLine asks for Quantity portions of a dish. If ExpectedPrice is set, another price refuses the order.
type PlaceLine struct {
	DishID        uuid.UUID
	Quantity      int64
	ExpectedPrice *money.Money
}

// Placed is the order that a command came to. Replayed says that it existed before.
type Placed struct {
	Order    Order
	Replayed bool
}

// placing is a command on its way through the batch, with the ids that it will have if it becomes an order. They are
// made before the transaction, so that a commit without an answer can be looked up.
type placing struct {
	PlaceOrder
	orderID uuid.UUID
	factID  uuid.UUID
	command idempotency.Fingerprint
}

// Place places an order, or returns the order that exists under the command's key.
//
// While another request with the same key is being decided, Place waits for that decision up to two seconds; then it
// refuses with request_in_progress. The claim behind this is a courtesy to double clicks: what makes two orders under
// one key impossible is the unique index that [Tx.InsertOrders] meets.
func (s *Service) Place(ctx context.Context, cmd PlaceOrder) (Placed, error) {
	if err := cmd.check(); err != nil {
		return Placed{}, err
	}
	p := placing{PlaceOrder: cmd, orderID: newID(), factID: newID(), command: cmd.fingerprint()}
	if cmd.Key == "" {
		return do(ctx, s.placings, p, s.logPlaced(ctx, p))
	}
	return s.placeOnce(ctx, p)
}

// placeOnce decides a keyed command when no other request holds its key, else it waits for the other's outcome.
func (s *Service) placeOnce(ctx context.Context, p placing) (Placed, error) {
	key := p.userKey()
	patience, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	for {
		if release, ok := s.claims.Acquire(key); ok {
			log := s.logPlaced(ctx, p)
			return do(ctx, s.placings, p, func(o batch.Outcome[Placed]) {
				release()
				log(o)
			})
		}
		if !s.claims.Wait(patience, key) {
			return Placed{}, fault.New(fault.RequestInProgress, "a request with this Idempotency-Key is still being decided")
		}
		existing, found, err := s.store.OrderByKey(ctx, key)
		if err != nil {
			return Placed{}, err
		}
		if found {
			return replay(existing, p)
		}
	}
}

// Undecided is the number of keys whose first request is being decided in this process.
func (s *Service) Undecided() int { return s.claims.Len() }

// replay answers a command whose key stands for an order already.
func replay(existing Order, p placing) (Placed, error) {
	if idempotency.Decide(true, existing.Command, p.command) == idempotency.Reused {
		return Placed{}, fault.New(fault.IdempotencyKeyReused, "this Idempotency-Key stands for another order").
			With("original_created_at", existing.CreatedAt)
	}
	return Placed{Order: existing, Replayed: true}, nil
}

func (p placing) userKey() UserKey { return UserKey{p.UserID, p.Key} }

func (cmd PlaceOrder) check() error {
	switch {
	case len(cmd.Lines) == 0 || len(cmd.Lines) > MaxLines:
		return fault.Invalid("/lines", "must have 1 to %d lines", MaxLines)
	case utf8.RuneCountInString(cmd.Comment) > MaxComment:
		return fault.Invalid("/comment", "must have at most %d characters", MaxComment)
	}
	for i, line := range cmd.Lines {
		if line.Quantity < 1 || line.Quantity > MaxQuantity {
			return fault.Invalid(fmt.Sprintf("/lines/%d/quantity", i), "must be 1 to %d", MaxQuantity)
		}
	}
	return nil
}

// placeBatch decides commands in the order of their arrival, in one transaction. It is batch.Apply.
func (s *Service) placeBatch(ctx context.Context, commands []placing) (outcomes []batch.Outcome[Placed], err error) {
	err = s.store.Write(ctx, func(tx Tx) error {
		d, err := s.openPlacement(tx, commands)
		if err != nil {
			return err
		}
		outcomes = batch.Each(commands, d.decide)
		return d.save(tx)
	})
	if err == nil {
		s.wake()
	}
	return outcomes, err
}

// placement is one batch of commands being decided over what its transaction locked and read.
type placement struct {
	service        *Service
	now            time.Time
	establishments map[uuid.UUID]Establishment
	dishes         map[uuid.UUID]Dish // with the stock that is left after the commands decided so far
	byKey          map[UserKey]Order  // that existed, and that this batch decided
	orders         []Order
	placed         []placing // the commands behind the orders
	events         []Event
	taken          map[uuid.UUID]int64
}

// openPlacement takes the locks of a batch: dishes before keys, as every writer does. Keys are only looked up here; they
// are locked by the insert.
func (s *Service) openPlacement(tx Tx, commands []placing) (*placement, error) {
	d := &placement{service: s, taken: map[uuid.UUID]int64{}}
	var keys []UserKey
	var establishmentIDs, dishIDs []uuid.UUID
	for _, p := range commands {
		if p.Key != "" {
			keys = append(keys, p.userKey())
		}
		establishmentIDs = append(establishmentIDs, p.EstablishmentID)
		for _, line := range p.Lines {
			dishIDs = append(dishIDs, line.DishID)
		}
	}
	var err error
	if d.byKey, err = tx.OrdersByKey(keys); err != nil {
		return nil, fmt.Errorf("look up client keys: %w", err)
	}
	if d.dishes, err = tx.LockDishes(distinct(dishIDs)); err != nil {
		return nil, fmt.Errorf("lock dishes: %w", err)
	}
	if d.establishments, err = tx.Establishments(distinct(establishmentIDs)); err != nil {
		return nil, fmt.Errorf("read establishments: %w", err)
	}
	if d.now, err = tx.Now(); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	return d, nil
}

// decide comes to a replay, a refusal or a new order. The key is looked at before anything that changes with time:
// an order that exists is found after closing time as well.
func (d *placement) decide(p placing) (Placed, error) {
	if p.Key != "" {
		if existing, found := d.byKey[p.userKey()]; found {
			return replay(existing, p)
		}
	}
	order, err := d.price(p)
	if err != nil {
		return Placed{}, err
	}
	if err := d.takeStock(&order); err != nil {
		return Placed{}, err
	}
	d.add(order, p)
	return Placed{Order: order}, nil
}

// price checks the command against menu and establishment, in the documented order, and makes the order of it.
func (d *placement) price(p placing) (Order, error) {
	establishment, known := d.establishments[p.EstablishmentID]
	if !known {
		return Order{}, fault.Invalid("/establishment_id", "no such establishment")
	}
	if !establishment.Accepting() {
		return Order{}, fault.New(fault.EstablishmentClosed, "%s takes no orders at the moment", establishment.Name)
	}
	lines, err := d.lines(p, establishment)
	if err != nil {
		return Order{}, err
	}
	total, err := sum(lines)
	if err != nil {
		return Order{}, fault.Invalid("/lines", "the total is too large")
	}
	if total < establishment.MinOrder {
		return Order{}, fault.New(fault.BelowMinimum, "the order is below the minimum of this establishment").
			With("min_order", money.Money{Amount: establishment.MinOrder, Currency: establishment.Currency})
	}
	return Order{
		ID: p.orderID, UserID: p.UserID, EstablishmentID: p.EstablishmentID, Status: lifecycle.Placed,
		Lines: lines, Total: money.Money{Amount: total, Currency: establishment.Currency}, Comment: p.Comment, Seq: 1,
		AcceptDeadline: d.now.Add(establishment.AcceptTimeout), CreatedAt: d.now, UpdatedAt: d.now,
		Key: p.Key, Command: p.command,
	}, nil
}

// lines checks each kind of refusal over all lines before the next kind: unknown dish, availability, price.
func (d *placement) lines(p placing, e Establishment) ([]Line, error) {
	for i, line := range p.Lines {
		if dish, known := d.dishes[line.DishID]; !known || dish.EstablishmentID != e.ID {
			return nil, fault.Invalid(fmt.Sprintf("/lines/%d/dish_id", i), "no such dish in this establishment")
		}
	}
	for _, line := range p.Lines {
		if dish := d.dishes[line.DishID]; !dish.Orderable() {
			return nil, fault.New(fault.DishUnavailable, "%s is not available", dish.Name).With("dish_id", dish.ID)
		}
	}
	lines := make([]Line, len(p.Lines))
	for i, line := range p.Lines {
		dish := d.dishes[line.DishID]
		price := money.Money{Amount: dish.Price, Currency: e.Currency}
		if line.ExpectedPrice != nil && *line.ExpectedPrice != price {
			return nil, fault.New(fault.PriceChanged, "the price of %s has changed", dish.Name).
				With("dish_id", dish.ID).With("price", price)
		}
		total, err := money.Multiply(dish.Price, line.Quantity)
		if err != nil {
			return nil, fault.Invalid(fmt.Sprintf("/lines/%d/quantity", i), "the line's total is too large")
		}
		lines[i] = Line{DishID: dish.ID, Name: dish.Name, Quantity: line.Quantity, UnitPrice: dish.Price, Total: total}
	}
	return lines, nil
}

// takeStock takes every counted line or nothing.
func (d *placement) takeStock(order *Order) error {
	need := map[uuid.UUID]int64{}
	for _, line := range order.Lines {
		if dish := d.dishes[line.DishID]; dish.Counted {
			need[dish.ID] += line.Quantity
			if need[dish.ID] > dish.Stock {
				return fault.New(fault.OutOfStock, "%d of %s left", dish.Stock, dish.Name).
					With("dish_id", dish.ID).With("left", dish.Stock)
			}
		}
	}
	for i, line := range order.Lines {
		if dish := d.dishes[line.DishID]; dish.Counted {
			order.Lines[i].Taken = line.Quantity
			dish.Stock -= line.Quantity
			d.dishes[dish.ID] = dish
			d.taken[dish.ID] -= line.Quantity
		}
	}
	return nil
}

func (d *placement) add(order Order, p placing) {
	d.orders = append(d.orders, order)
	d.placed = append(d.placed, p)
	d.events = append(d.events, Event{
		OrderID: order.ID, Seq: 1, To: lifecycle.Placed, Actor: "customer:" + order.UserID,
		Deliveries: 1, At: d.now, LastDeliveryAt: d.now,
	})
	if p.Key != "" {
		d.byKey[p.userKey()] = order
	}
}

// save writes what was decided. The unique index has the last word about keys: the rows that the insert returns are
// the orders that exist, and if one is missing another transaction was first.
func (d *placement) save(tx Tx) error {
	if len(d.orders) == 0 {
		return nil
	}
	messages, err := d.service.orderPlacedMessages(d.orders, d.placed)
	if err != nil {
		return err
	}
	inserted, err := tx.InsertOrders(byUserKey(d.orders))
	if err != nil {
		return fmt.Errorf("insert %d orders: %w", len(d.orders), err)
	}
	if len(inserted) < len(d.orders) {
		return ErrLostKey
	}
	if err := tx.InsertEvents(d.events); err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	if err := tx.AddStock(d.taken); err != nil {
		return fmt.Errorf("take stock: %w", err)
	}
	return tx.AppendOutbox(messages)
}

// byUserKey sorts orders so that two batches with the same keys insert them in the same order and can't deadlock.
func byUserKey(orders []Order) []Order {
	sorted := slices.Clone(orders)
	slices.SortFunc(sorted, func(a, b Order) int {
		return cmp.Or(strings.Compare(a.UserID, b.UserID), cmp.Compare(a.Key, b.Key), slices.Compare(a.ID[:], b.ID[:]))
	})
	return sorted
}

func sum(lines []Line) (total int64, err error) {
	for _, line := range lines {
		if total, err = money.Add(total, line.Total); err != nil {
			return 0, err
		}
	}
	return total, nil
}

func distinct(ids []uuid.UUID) []uuid.UUID {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}
