package establishmenttest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kuhnya/internal/establishment"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
)

// testProperty plays random presses, broker failures, sweeps and kitchen's answers on one order, with kitchen as a
// model: it counts a callback once, moves by the table, and its facts arrive late, repeatedly and out of turn.
func testProperty(t *testing.T, open func(t *testing.T) establishment.Store) {
	d := openDesk(t, open(t))
	t.Run("a ticket is never inconsistent and ends where its order ends", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d.tb = t
			d.broker.Play(nil)
			g := newGame(t, d)
			t.Repeat(map[string]func(*rapid.T){
				"":        g.check,
				"press":   g.press,
				"broker":  g.turnBroker,
				"sweep":   func(*rapid.T) { d.sweeper.Sweep(d.ctx) },
				"hear":    g.kitchenHears,
				"move":    g.kitchenMoves,
				"tell":    g.kitchenTells,
				"redrive": g.kitchenRepeats,
			})
			g.settle()
		})
	})
	d.tb = t
}

// game is one order between staff, broker and kitchen.
type game struct {
	*desk
	order   establishment.Placed
	log     []Record // what the broker keeps
	heard   int      // how far kitchen has read the log
	history []lifecycle.Status
	facts   []establishment.Fact
	told    int // how far establishment has read the facts
	before  establishment.Ticket
}

func newGame(t *rapid.T, d *desk) *game {
	g := &game{desk: d, order: order(), history: []lifecycle.Status{lifecycle.Placed}}
	g.facts = []establishment.Fact{g.order}
	d.broker.Take()
	return g
}

func (g *game) stands() lifecycle.Status { return g.history[len(g.history)-1] }

func (g *game) press(t *rapid.T) {
	action := rapid.SampledFrom([]lifecycle.Action{
		lifecycle.Accept, lifecycle.Reject, lifecycle.Start, lifecycle.MakeReady, lifecycle.Complete, lifecycle.Cancel,
	}).Draw(t, "action")
	_, err := g.advance(g.order, action)
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.InvalidTransition, fault.PublishFailed:
	default:
		if err != nil {
			t.Fatalf("%s: %v", action, err)
		}
	}
	g.log = append(g.log, g.broker.Take()...)
}

func (g *game) turnBroker(t *rapid.T) {
	g.broker.Play(rapid.SampledFrom([]Script{nil, Away, LostAnswer}).Draw(t, "script"))
}

// kitchenHears reads one more callback, or one again.
func (g *game) kitchenHears(t *rapid.T) {
	g.log = append(g.log, g.broker.Take()...)
	if len(g.log) == 0 {
		return
	}
	if i := rapid.IntRange(0, g.heard).Draw(t, "callback"); i < len(g.log) {
		g.hear(i)
	}
}

func (g *game) hear(i int) {
	g.heard = max(g.heard, i+1)
	to := g.log[i].Status
	if !slices.Contains(g.history, to) && lifecycle.May(lifecycle.Staff, g.stands(), to) {
		g.enter(to)
	}
}

func (g *game) enter(to lifecycle.Status) {
	g.history = append(g.history, to)
	g.facts = append(g.facts, change(g.order, int64(len(g.history)), to, "said by kitchen"))
}

// kitchenMoves is a change that does not come from the board: the customer, the time-out, a callback over HTTP.
func (g *game) kitchenMoves(t *rapid.T) {
	var next []lifecycle.Status
	for _, to := range lifecycle.Statuses {
		if lifecycle.Adjacent(g.stands(), to) {
			next = append(next, to)
		}
	}
	if len(next) > 0 {
		g.enter(rapid.SampledFrom(next).Draw(t, "to"))
	}
}

func (g *game) kitchenTells(t *rapid.T) {
	n := rapid.IntRange(g.told, len(g.facts)).Draw(t, "told")
	g.merge(g.facts[g.told:n]...)
	g.told = n
}

// kitchenRepeats tells one of the facts again, or before its turn.
func (g *game) kitchenRepeats(t *rapid.T) {
	g.merge(rapid.SampledFrom(g.facts).Draw(t, "fact"))
}

// check is what holds after every move.
func (g *game) check(t *rapid.T) {
	ticket, found, err := g.store.Ticket(g.ctx, g.order.OrderID)
	if err != nil {
		t.Fatalf("read ticket: %v", err)
	}
	if !found {
		return
	}
	g.checkEntered(t, ticket)
	g.checkSteps(t, ticket)
	if ticket.KitchenSeq < g.before.KitchenSeq {
		t.Fatalf("kitchen seq went from %d to %d", g.before.KitchenSeq, ticket.KitchenSeq)
	}
	if g.before.Status.Terminal() && ticket.Status != g.before.Status && ticket.KitchenSeq == g.before.KitchenSeq {
		t.Fatalf("a terminal ticket went from %s to %s without a word of kitchen", g.before.Status, ticket.Status)
	}
	g.before = ticket
}

func (g *game) checkEntered(t *rapid.T, ticket establishment.Ticket) {
	for _, s := range lifecycle.Passed(ticket.Status) {
		if !slices.Contains(ticket.Entered, s) {
			t.Fatalf("%s without having entered %s", ticket.Status, s)
		}
	}
	for i, s := range ticket.Entered {
		if s != ticket.Status && !lifecycle.Reachable(s, ticket.Status) {
			t.Fatalf("%s can't come from %s", ticket.Status, s)
		}
		if i > 0 && !lifecycle.Reachable(ticket.Entered[i-1], s) {
			t.Fatalf("entered out of order: %v", ticket.Entered)
		}
	}
}

func (g *game) checkSteps(t *rapid.T, ticket establishment.Ticket) {
	steps := g.steps(g.order)
	unsent := false
	for i, step := range steps {
		if step.No != int64(i+1) {
			t.Fatalf("step %d has number %d", i+1, step.No)
		}
		if unsent && step.SentAt != nil {
			t.Fatalf("step %d is sent and one before it is not", step.No)
		}
		unsent = unsent || step.SentAt == nil
		if slices.ContainsFunc(steps[:i], func(s establishment.Step) bool { return s.Status == step.Status }) {
			t.Fatalf("two steps to %s", step.Status)
		}
	}
	if unsent && steps[len(steps)-1].Status != ticket.Status {
		t.Fatalf("the last unsent step is %s, the ticket %s", steps[len(steps)-1].Status, ticket.Status)
	}
	if ticket.Published == unsent {
		t.Fatalf("published %v with unsent steps %v", ticket.Published, unsent)
	}
}

// settle lets everything arrive that is on its way, and then compares.
func (g *game) settle() {
	g.broker.Play(nil)
	g.sweeper.Sweep(g.ctx)
	g.log = append(g.log, g.broker.Take()...)
	for g.heard < len(g.log) {
		g.hear(g.heard)
	}
	g.merge(g.facts...)
	ticket := g.ticket(g.order)
	if ticket.Status != g.stands() || !ticket.Published || len(ticket.Lines) != len(g.order.Lines) {
		g.Fatalf("order is %s, ticket is %s, published %v", g.stands(), ticket.Status, ticket.Published)
	}
}
