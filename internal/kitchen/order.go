package kitchen

import (
	"encoding/base32"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

// Order is a customer's order as kitchen knows it.
type Order struct {
	ID              uuid.UUID
	UserID          string
	EstablishmentID uuid.UUID
	Status          lifecycle.Status
	Reason          string // why it was rejected or cancelled
	Lines           []Line
	Total           money.Money
	Comment         string
	Seq             int64 // of its newest event; 1 is placed
	AcceptDeadline  time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time

	Key     idempotency.Key         // the client's, "" if none; unique per user
	Command idempotency.Fingerprint // of the command that the key stands for
}

// Line is one line of an order, with the name and price that the dish had when the order was placed.
type Line struct {
	DishID    uuid.UUID
	Name      string
	Quantity  int64
	UnitPrice int64 // minor units of the order's currency
	Total     int64
	Taken     int64 // what it took from stock, and the only amount that ever returns
}

// Event is one entry of an order's history: it entered a status, and that was said to kitchen Deliveries times.
type Event struct {
	OrderID        uuid.UUID
	Seq            int64
	From, To       lifecycle.Status // From is "" for placed
	Actor          string           // customer:alice, staff:marta, system:accept_timeout
	Reason         string
	Key            idempotency.Key // of the callback, "" if it came without one
	Deliveries     int64           // 1 + absorbed duplicates
	At             time.Time
	LastDeliveryAt time.Time
}

// After is the order as an event of its history left it: all else of an order never changes.
func (o Order) After(e Event) Order {
	o.Status, o.Reason, o.Seq, o.UpdatedAt = e.To, e.Reason, e.Seq, e.At
	return o
}

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// Code is what staff call out: the last five Crockford base-32 characters of the order's id read as one number.
func Code(id uuid.UUID) string {
	// 25 bits, taken from the last four bytes and placed on the encoding's five-bit grid.
	tail := uint32(id[12])<<24 | uint32(id[13])<<16 | uint32(id[14])<<8 | uint32(id[15])
	tail <<= 7
	encoded := crockford.EncodeToString([]byte{byte(tail >> 24), byte(tail >> 16), byte(tail >> 8), byte(tail)})
	return encoded[:5]
}
