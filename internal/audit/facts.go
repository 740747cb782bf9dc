package audit

import (
	"bytes"
	"cmp"
	"iter"

	"github.com/google/uuid"

	"kuhnya/internal/money"
)

// Order is what kitchen knows of an order, for the comparison.
type Order struct {
	ID      uuid.UUID
	Status  Statuses // one, or none that is known
	Entered Statuses // by its events
	User    string
	Total   money.Money
}

// Ticket is what establishment knows of an order.
type Ticket struct {
	ID     uuid.UUID // of the order
	Hidden bool      // known by changes only, so to the staff it does not exist
	Status Statuses  // one, or none that is known
	Sent   Statuses  // of the steps that are marked as sent
}

// Evaluation is what bonus knows of a completed order.
type Evaluation struct {
	ID    uuid.UUID // of the order
	User  string
	Total money.Money
}

// Earning is an accrual that came of the record of an order.
type Earning struct {
	ID      uuid.UUID // of the order
	Accrual uuid.UUID
	User    string
}

// Excused holds the orders that a dead letter, open or discarded, or a parked row accounts for.
type Excused map[uuid.UUID]bool

// Facts are what the services know of orders. Each sequence is sorted by the id of the order; all but the earnings have
// each id once.
type Facts struct {
	Orders      iter.Seq2[Order, error]
	Tickets     iter.Seq2[Ticket, error]
	Evaluations iter.Seq2[Evaluation, error]
	Earnings    iter.Seq2[Earning, error]
	Excused     Excused
}

// story is all that is known of one order, or a piece of that.
type story struct {
	id         uuid.UUID
	order      *Order
	ticket     *Ticket
	evaluation *Evaluation
	earnings   []Earning
}

func (s *story) add(piece story) {
	s.order, s.ticket = cmp.Or(s.order, piece.order), cmp.Or(s.ticket, piece.ticket)
	s.evaluation, s.earnings = cmp.Or(s.evaluation, piece.evaluation), append(s.earnings, piece.earnings...)
}

// pieces makes pieces of stories of what one service knows.
func pieces[T any](known iter.Seq2[T, error], piece func(T) story) iter.Seq2[story, error] {
	return func(yield func(story, error) bool) {
		for fact, err := range known {
			if !yield(piece(fact), err) {
				return
			}
		}
	}
}

// tell calls f with the story of each order that anybody knows of, by id.
func (f Facts) tell(each func(story)) error {
	var queues []*queue
	for _, known := range []iter.Seq2[story, error]{
		pieces(f.Orders, func(o Order) story { return story{id: o.ID, order: &o} }),
		pieces(f.Tickets, func(t Ticket) story { return story{id: t.ID, ticket: &t} }),
		pieces(f.Evaluations, func(e Evaluation) story { return story{id: e.ID, evaluation: &e} }),
		pieces(f.Earnings, func(e Earning) story { return story{id: e.ID, earnings: []Earning{e}} }),
	} {
		next, stop := iter.Pull2(known)
		defer stop()
		q := &queue{next: next}
		if err := q.advance(); err != nil {
			return err
		}
		queues = append(queues, q)
	}
	for first := earliest(queues); first != nil; first = earliest(queues) {
		s := story{id: first.head.id}
		for _, q := range queues {
			if err := q.give(&s); err != nil {
				return err
			}
		}
		each(s)
	}
	return nil
}

// queue gives the pieces of one sequence away.
type queue struct {
	next func() (story, error, bool)
	head story
	some bool // false at the end, where there is no head
}

func (q *queue) advance() (err error) {
	q.head, err, q.some = q.next()
	return err
}

// give adds to a story what is its own and next.
func (q *queue) give(s *story) error {
	for q.some && q.head.id == s.id {
		s.add(q.head)
		if err := q.advance(); err != nil {
			return err
		}
	}
	return nil
}

// earliest is the queue whose head has the lowest id, nil if all have ended.
func earliest(queues []*queue) (first *queue) {
	for _, q := range queues {
		if q.some && (first == nil || bytes.Compare(q.head.id[:], first.head.id[:]) < 0) {
			first = q
		}
	}
	return first
}
