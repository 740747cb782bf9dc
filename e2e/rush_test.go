package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	rushCustomers = 8
	rushCooks     = 4
	rushDishes    = 3
	rushStock     = 1_000_000
)

// rush is a load on a venue whose processes die under it: customers who order under keys and sometimes cancel, and
// staff who carry orders to their end. Everybody sends the same request again until it is answered, and writes down
// what was acknowledged.
type rush struct {
	t     *testing.T
	venue *venue
	seed  uint64

	answers   atomic.Int64 // so far
	stop      chan struct{}
	toBoard   chan string // orders on their way to staff
	customers sync.WaitGroup
	cooks     sync.WaitGroup

	mu     sync.Mutex
	orders []*rushOrder
	byID   map[string]*rushOrder
}

// rushOrder is an order that was acknowledged, with all that was acknowledged of it later.
type rushOrder struct {
	id, key   string
	customer  client
	dish      int
	quantity  int64
	pressed   []string // statuses
	cancelled bool
}

// startRush begins. The venue's processes must keep their addresses over restarts.
func startRush(t *testing.T, v *venue, seed uint64) *rush {
	t.Helper()
	r := &rush{t: t, seed: seed, stop: make(chan struct{}), toBoard: make(chan string), byID: map[string]*rushOrder{}}
	r.venue = v.withFixedAddresses()
	for i := range rushCustomers {
		customer := r.venue.customer(t, newName("rusher"))
		r.customers.Go(func() { r.order(customer, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	for range rushCooks {
		r.cooks.Go(r.cook)
	}
	return r
}

// withFixedAddresses is the venue for callers who don't learn of restarts.
func (v *venue) withFixedAddresses() *venue {
	fixed := *v
	fixed.site = &site{
		data: v.data, kitchen: &process{url: v.kitchen.url}, board: &process{url: v.board.url}, bonus: &process{url: v.bonus.url},
		tokens: v.tokens,
	}
	fixed.cook, fixed.alice, fixed.chief = v.cook.at(fixed.site), v.alice.at(fixed.site), v.chief.at(fixed.site)
	return &fixed
}

// end lets everybody finish what they have begun.
func (r *rush) end() {
	close(r.stop)
	r.customers.Wait()
	close(r.toBoard)
	r.cooks.Wait()
}

// awaitAnswers waits until so many more requests were answered.
func (r *rush) awaitAnswers(n int64) {
	r.t.Helper()
	goal := r.answers.Load() + n
	eventually(r.t, "answers under load", func() bool { return r.answers.Load() >= goal })
}

// order is a customer.
func (r *rush) order(customer client, random *rand.Rand) {
	for {
		o := &rushOrder{key: newKey(), customer: customer, dish: random.IntN(rushDishes), quantity: 1 + random.Int64N(3)}
		answer := r.insist(customer, "POST", "/v1/orders", r.venue.portions(o.dish, o.quantity), keyed(o.key)...)
		if answer.status != 201 && answer.status != 200 {
			r.t.Errorf("order: %d %s", answer.status, answer.body)
			return
		}
		o.id = into[order](r.t, answer).ID
		r.note(func() { r.orders, r.byID[o.id] = append(r.orders, o), o })
		select {
		case r.toBoard <- o.id:
		case <-r.stop:
			return
		}
		if random.IntN(4) == 0 {
			r.cancel(o)
		}
	}
}

func (r *rush) cancel(o *rushOrder) {
	switch answer := r.insist(o.customer, "POST", "/v1/orders/"+o.id+"/cancel", nil); answer.status {
	case 200:
		r.note(func() { o.cancelled = true })
	case 409: // staff were faster
	default:
		r.t.Errorf("cancel: %d %s", answer.status, answer.body)
	}
}

// cook is staff.
func (r *rush) cook() {
	for id := range r.toBoard {
		for _, b := range buttons {
			answer := r.insist(r.venue.cook, "POST", "/v1/tickets/"+id+"/advance", pressing(b.action))
			if answer.status != 200 {
				if answer.status != 409 { // else its customer was faster
					r.t.Errorf("%s: %d %s", b.action, answer.status, answer.body)
				}
				break
			}
			// A press that comes after the order has ended is a repeat that changes nothing, and is answered so.
			if now := into[ticket](r.t, answer).Status; now == b.status {
				r.note(func() { r.byID[id].pressed = append(r.byID[id].pressed, b.status) })
			}
		}
	}
}

func (r *rush) note(what func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what()
}

// insist sends a request again until it is decided.
func (r *rush) insist(c client, method, path string, body any, headers ...string) response {
	again := time.NewTicker(pollInterval)
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		answer := c.try(r.t, method, path, body, headers...)
		if decided(answer) {
			r.answers.Add(1)
			return answer
		}
		if time.Now().After(deadline) {
			return answer
		}
	}
}

// decided says whether there is no use in sending the request again. A ticket that isn't there is on its way.
func decided(r response) bool {
	switch r.status {
	case 0, http.StatusNotFound, http.StatusTooManyRequests:
		return false
	case http.StatusConflict:
		return problemCode(r) != "request_in_progress"
	}
	return r.status < 500
}

func (r *rush) String() string {
	cancelled, completed := 0, 0
	for _, o := range r.orders {
		if o.cancelled {
			cancelled++
		}
		if len(o.pressed) == len(buttons) {
			completed++
		}
	}
	return fmt.Sprintf("seed %d: %d orders, %d cancelled, %d completed", r.seed, len(r.orders), cancelled, completed)
}
