package establishment

import (
	"slices"

	"github.com/google/uuid"

	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
)

// Fact is what kitchen told about an order: [Placed] or [Changed].
type Fact interface {
	order() uuid.UUID
	check() error
	// mergeInto returns the ticket that the fact leaves of the one that is known, or of a zero one. overruled says that
	// kitchen's word replaced the ticket's status, so the steps that are still unsent have lost their meaning.
	mergeInto(before Ticket, known bool) (after Ticket, overruled bool)
}

// Placed is a new order, whole.
type Placed event.OrderPlaced

// Changed is a status that an order entered after it was placed.
type Changed event.OrderStatusChanged

func (p Placed) order() uuid.UUID { return p.OrderID }

func (p Placed) check() error {
	if p.OrderID == uuid.Nil || p.EstablishmentID == uuid.Nil {
		return fault.New(fault.InvalidRequest, "an order needs order_id and establishment_id")
	}
	return nil
}

// mergeInto inserts the ticket where the order starts, or fills in what a change alone could not tell. It is never too
// late: a redrive may bring it after the order has moved on, and then the ticket appears where the order stands.
func (p Placed) mergeInto(t Ticket, known bool) (after Ticket, overruled bool) {
	if known && !t.Hidden {
		return t, false
	}
	if !known {
		t.Status, t.KitchenSeq, t.Entered = lifecycle.Placed, 1, lifecycle.Passed(lifecycle.Placed)
	}
	t.OrderID, t.EstablishmentID, t.Code, t.Comment, t.Total = p.OrderID, p.EstablishmentID, p.Code, p.Comment, p.Total
	t.AcceptDeadline, t.CreatedAt, t.Hidden = p.AcceptDeadline, p.PlacedAt, false
	t.Lines = make([]Line, len(p.Lines))
	for i, l := range p.Lines {
		t.Lines[i] = Line{
			DishID: l.DishID, Name: l.Name, Quantity: l.Quantity, UnitPrice: l.UnitPrice.Amount, Total: l.Total.Amount,
		}
	}
	return t, false
}

func (c Changed) order() uuid.UUID { return c.OrderID }

func (c Changed) check() error {
	to, known := lifecycle.Parse(string(c.To))
	switch {
	case c.OrderID == uuid.Nil || c.EstablishmentID == uuid.Nil:
		return fault.New(fault.InvalidRequest, "a change needs order_id and establishment_id")
	case !known || to == lifecycle.Placed:
		return fault.New(fault.InvalidRequest, "a change leads to a status that follows placed")
	case c.Seq < 2:
		return fault.New(fault.InvalidRequest, "the seq of a change is above 1, which is placed")
	}
	return nil
}

// mergeInto makes a hidden ticket of an order that nothing else is known of, or lets the known one follow kitchen.
func (c Changed) mergeInto(t Ticket, known bool) (after Ticket, overruled bool) {
	if known {
		return t.follow(c.Seq, c.To, c.Reason)
	}
	return Ticket{
		OrderID: c.OrderID, EstablishmentID: c.EstablishmentID, Status: c.To, Reason: c.Reason, Total: c.Total,
		KitchenSeq: c.Seq, Hidden: true, Entered: lifecycle.Passed(c.To), CreatedAt: c.PlacedAt,
	}, false
}

// follow lets the ticket follow kitchen's word about its order: the newest word counts, and it replaces the ticket's
// status unless staff are only ahead of it. They are ahead if the order can still come to where the ticket stands; then
// the steps that lead there are sent or will be. Otherwise those steps can't come true any more, or have already.
func (t Ticket) follow(seq int64, to lifecycle.Status, reason string) (after Ticket, overruled bool) {
	if seq <= t.KitchenSeq {
		return t, false
	}
	t.KitchenSeq = seq
	if lifecycle.Reachable(to, t.Status) {
		return t, false
	}
	t.Entered = entered(to, t.Entered)
	t.Status, t.Reason = to, reason
	return t, true
}

// entered lists what a ticket has been through that kitchen moved to a status: what every such order has passed, and of
// what the ticket entered before, whatever led there. A step that kitchen overruled is not among it, so its button is a
// press of its own again wherever the table allows it.
func entered(status lifecycle.Status, before []lifecycle.Status) []lifecycle.Status {
	passed := lifecycle.Passed(status)
	return slices.DeleteFunc(slices.Clone(lifecycle.Statuses), func(s lifecycle.Status) bool {
		led := slices.Contains(before, s) && lifecycle.Reachable(s, status)
		return !led && !slices.Contains(passed, s)
	})
}
