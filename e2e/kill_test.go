package e2e

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

var seedFlag = flag.Uint64("seed", 0, "makes kill tests choose their moments as another run did; 0 chooses a seed")

// TestKill ends processes at random moments under a load of clients who send everything again until it is answered.
// Nothing that was acknowledged may be lost, and nothing may be done twice.
func TestKill(t *testing.T) {
	keep(t,
		promise{"a process killed 20 times and stopped 5 times loses and repeats nothing", killProcess},
		promise{"a broker killed 5 times under living services loses and repeats nothing", killBroker},
		promise{"kitchen, board, bonus and broker killed in turn, 4 times each, lose and repeat nothing", killInTurn},
	)
}

// moments are when to end a process.
type moments struct{ *rand.Rand }

func newMoments(t *testing.T) (moments, uint64) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with -seed %d", seed)
	return moments{rand.New(rand.NewPCG(seed, 0))}, seed
}

// await returns at a random moment after the load has gone on by some answers.
func (m moments) await(r *rush) {
	r.t.Helper()
	r.awaitAnswers(1 + m.Int64N(60))
	<-time.After(time.Duration(m.Int64N(int64(20 * time.Millisecond))))
}

func killProcess(t *testing.T) {
	data := t.TempDir()
	auditAfter(t, data)
	p := start(t, "serve", "--data", data, "--addr", fixedAddr(t))
	v := openRushVenue(t, newSite(data).inOne(p))
	when, seed := newMoments(t)
	r := startRush(t, v, seed)
	for range 20 {
		when.await(r)
		p.kill(t)
		p.restart(t)
	}
	for range 5 {
		when.await(r)
		p.stop(t)
		p.restart(t)
	}
	r.awaitAnswers(100)
	r.end()
	p.stop(t)
	if err := audit("--data", data); err != nil {
		t.Fatal(err)
	}
	p.restart(t)
	r.wantKept()
}

func killBroker(t *testing.T) {
	s := onBroker(t)
	s.inOne(start(t, s.serve("--addr", fixedAddr(t))...))
	v := openRushVenue(t, s)
	bystander := openVenue(t, s, counted("pelmeni", 100))
	when, seed := newMoments(t)
	r := startRush(t, v, seed)
	for range 5 {
		when.await(r)
		s.broker.kill(t)
		bystander.placed(t, bystander.portions(0, 1)) // orders are taken meanwhile
		s.broker.restart(t)
	}
	r.awaitAnswers(100)
	r.end()
	s.settle(t)
	r.wantKept()
}

func killInTurn(t *testing.T) {
	s := onBroker(t)
	s.kitchen = start(t, append(s.serve("kitchen"), "--addr", fixedAddr(t))...)
	s.board = start(t, append(s.serve("establishment"), "--addr", fixedAddr(t))...)
	s.bonus = start(t, append(s.serve("bonus"), "--addr", fixedAddr(t))...)
	v := openRushVenue(t, s)
	when, seed := newMoments(t)
	r := startRush(t, v, seed)
	for range 4 {
		for _, p := range []*process{s.kitchen, s.board, s.bonus, s.broker} {
			when.await(r)
			p.kill(t)
			p.restart(t)
		}
	}
	r.awaitAnswers(100)
	r.end()
	s.settle(t)
	r.wantKept()
}

func openRushVenue(t *testing.T, s *site) *venue {
	t.Helper()
	var menu []menuDish
	for i := range rushDishes {
		menu = append(menu, counted(string(rune('a'+i)), rushStock))
	}
	v := openVenue(t, s, menu...)
	v.offer(t, fixed(1))
	return v
}

// wantKept compares what was acknowledged with what there is, when nothing is on its way any more.
func (r *rush) wantKept() {
	r.t.Helper()
	r.t.Log(r)
	if len(r.orders) == 0 {
		r.t.Fatal("no order was acknowledged")
	}
	var next atomic.Int64
	var left [rushDishes]atomic.Int64
	for i := range left {
		left[i].Store(rushStock)
	}
	together(rushCustomers, func(int) {
		for i := next.Add(1) - 1; int(i) < len(r.orders); i = next.Add(1) - 1 {
			if o := r.orders[i]; r.wantOrderKept(o) != "cancelled" {
				left[o.dish].Add(-o.quantity)
			}
		}
	})
	r.wantNoOthers()
	for i := range left {
		r.venue.wantStock(r.t, i, left[i].Load())
	}
}

// wantOrderKept checks one order and returns its status.
func (r *rush) wantOrderKept(o *rushOrder) string {
	found := into[list[order]](r.t, o.customer.send(r.t, "GET", "/v1/orders?idempotency_key="+o.key, nil)).Items
	if len(found) != 1 || found[0].ID != o.id {
		r.t.Errorf("key %s has %d orders, want %s", o.key, len(found), o.id)
		return ""
	}
	now := found[0]
	if len(now.Lines) != 1 || now.Lines[0].Quantity != o.quantity || now.Lines[0].DishID != r.venue.dishes[o.dish].ID {
		r.t.Errorf("order %s has lines %v", o.id, now.Lines)
	}
	if o.cancelled && now.Status != "cancelled" {
		r.t.Errorf("order %s is %s, but was acknowledged as cancelled", o.id, now.Status)
	}
	entered := map[string]int{}
	for _, e := range into[list[event]](r.t, o.customer.send(r.t, "GET", "/v1/orders/"+o.id+"/events", nil)).Items {
		entered[e.To]++
	}
	for _, status := range o.pressed {
		if n := entered[status]; n != 1 && (n != 0 || now.Status != "cancelled") {
			r.t.Errorf("order %s is %s and entered %s %d times, but that press was acknowledged", o.id, now.Status, status, n)
		}
	}
	return now.Status
}

// wantNoOthers fails the test if customers have orders that nobody acknowledged, or points for others than completed ones.
func (r *rush) wantNoOthers() {
	r.t.Helper()
	acknowledged, customers := map[string]bool{}, []client{}
	for _, o := range r.orders {
		acknowledged[o.id] = true
		if !slices.Contains(customers, o.customer) {
			customers = append(customers, o.customer)
		}
	}
	total := 0
	for _, c := range customers {
		earned := map[string]int64{}
		for _, e := range pages[walletEntry](r.t, c, "/v1/wallet/entries", 200) {
			earned[e.OrderID] += e.Amount
		}
		for _, o := range pages[order](r.t, c, "/v1/orders", 200) {
			if total++; !acknowledged[o.ID] {
				r.t.Errorf("nobody acknowledged order %s", o.ID)
			}
			if got := earned[o.ID]; got != 0 && o.Status != "completed" || got != 1 && o.Status == "completed" {
				r.t.Errorf("order %s is %s and earned %d points, want 1 for a completed one", o.ID, o.Status, got)
			}
		}
	}
	if total != len(acknowledged) || total != len(r.orders) {
		r.t.Errorf("%d orders in lists, %d acknowledged under %d keys", total, len(acknowledged), len(r.orders))
	}
}

// problemCode is the code of a problem document, "" for anything else.
func problemCode(r response) string {
	var p problem
	_ = json.Unmarshal(r.body, &p)
	return p.Code
}
