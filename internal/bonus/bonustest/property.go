package bonustest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"kuhnya/idempotency"
	"kuhnya/internal/bonus"
	"kuhnya/internal/fault"
)

// property plays random commands of clients, completed orders, changes of campaigns, and bursts of commands at once, on
// two processes, against a model.
func property(t *testing.T, w *world) {
	rapid.Check(t, func(t *rapid.T) {
		w.t = t
		g := newGame(w)
		t.Repeat(map[string]func(*rapid.T){
			"":         g.check,
			"accrue":   g.accrueOne,
			"burst":    g.accrueAtOnce,
			"evaluate": g.complete,
			"change":   g.change,
		})
		g.end(t)
	})
	w.t = t
}

// game is what should have become of the commands so far.
type game struct {
	*world
	users      []string
	campaigns  []bonus.Campaign
	orders     []bonus.Completed
	keys       []idempotency.Key
	accruals   map[bonus.BusinessKey]int64 // points
	answers    map[bonus.CallerKey]answered
	evaluated  map[uuid.UUID]bool
	toldBefore int64 // messages
}

// answered is a command that was answered under its key.
type answered struct {
	cmd    bonus.Accrue
	answer bonus.Accrued
}

func newGame(w *world) *game {
	id := uuid.NewString()
	g := &game{
		world: w, users: []string{"alice-" + id, "bob-" + id}, keys: []idempotency.Key{"", "1-" + idempotency.Key(id), "2-" + idempotency.Key(id)},
		campaigns: []bonus.Campaign{w.campaign}, accruals: map[bonus.BusinessKey]int64{}, answers: map[bonus.CallerKey]answered{}, evaluated: map[uuid.UUID]bool{},
	}
	g.toldBefore = w.messages()
	place := uuid.New() // of its own, since the campaigns of games before go on
	for _, terms := range []bonus.Terms{percent(500), fixed(2)} {
		terms.EstablishmentID = &place
		g.campaigns = append(g.campaigns, w.mustCreate(terms))
	}
	for i := range 3 {
		o := w.order(g.users[i%2])
		o.EstablishmentID, o.PlacedAt = place, g.campaigns[2].CreatedAt
		g.orders = append(g.orders, o)
	}
	return g
}

func (g *game) draw(t *rapid.T) bonus.Accrue {
	campaigns := []uuid.UUID{g.campaigns[0].ID, g.campaigns[1].ID, uuid.Max} // the last is unknown
	return bonus.Accrue{
		BusinessKey: bonus.BusinessKey{
			UserID: oneOf(t, "user", g.users), CampaignID: oneOf(t, "campaign", campaigns), OrderID: oneOf(t, "order", g.orders).OrderID,
		},
		Points: oneOf(t, "points", []int64{2, 22}),
		Caller: oneOf(t, "caller", []string{"service:erp", "operator:olga"}),
		Key:    oneOf(t, "key", g.keys),
	}
}

// oneOf draws by index: what is drawn is printed when a game fails.
func oneOf[E any](t *rapid.T, label string, elements []E) E {
	return elements[rapid.IntRange(0, len(elements)-1).Draw(t, label)]
}

func (g *game) process(t *rapid.T) *bonus.Service { return oneOf(t, "process", g.processes()) }

// accrueOne asks once; what comes of it follows from what was before.
func (g *game) accrueOne(t *rapid.T) {
	cmd := g.draw(t)
	key := bonus.CallerKey{Caller: cmd.Caller, Key: cmd.Key}
	got, err := g.accrue(g.process(t), cmd)
	points, exists := g.accruals[cmd.BusinessKey]
	before, known := g.answers[key]
	switch {
	case known && before.cmd != cmd:
		g.mustRefuse(err, fault.IdempotencyKeyReused)
		return
	case !known && exists && points != cmd.Points:
		g.mustRefuse(err, fault.AccrualConflict)
		return
	case !known && !exists && cmd.CampaignID == uuid.Max:
		g.mustRefuse(err, fault.InvalidRequest)
		return
	}
	g.must(err)
	switch {
	case known && (got.Status != before.answer.Status || string(got.Body) != string(before.answer.Body) || !got.Repeat):
		t.Fatalf("replay of %+v is %+v", before.answer, got)
	case !known && exists && (got.Status != 200 || !got.Repeat):
		t.Fatalf("%+v for an accrual that exists", got)
	case !known && !exists && (got.Status != 201 || got.Repeat):
		t.Fatalf("%+v for a new accrual", got)
	}
	g.accruals[cmd.BusinessKey] = cmd.Points
	if cmd.Key != "" {
		g.answers[key] = answered{cmd, got}
	}
}

// accrueAtOnce asks for several at once, and learns from the database who was first. Whoever got an answer must have got
// one that is true.
func (g *game) accrueAtOnce(t *rapid.T) {
	commands := make([]bonus.Accrue, 6)
	services := make([]*bonus.Service, len(commands))
	for i := range commands {
		commands[i], services[i] = g.draw(t), g.process(t)
	}
	got, errs := make([]bonus.Accrued, len(commands)), make([]error, len(commands))
	inParallel(len(commands), func(i int) { got[i], errs[i] = g.accrue(services[i], commands[i]) })
	for _, user := range g.users {
		for _, e := range g.entries(user) {
			g.accruals[e.BusinessKey] = e.Points
		}
	}
	possible := []fault.Code{fault.RequestInProgress, fault.IdempotencyKeyReused, fault.AccrualConflict, fault.InvalidRequest}
	for i, err := range errs {
		switch {
		case err != nil && !slices.Contains(possible, fault.CodeOf(err)):
			t.Fatal(err)
		case err == nil:
			g.mustBeTrue(t, commands[i], got[i])
		}
	}
}

// mustBeTrue checks an answer against what there is, and notes it under its key.
func (g *game) mustBeTrue(t *rapid.T, cmd bonus.Accrue, got bonus.Accrued) {
	if g.accruals[cmd.BusinessKey] != cmd.Points {
		t.Fatalf("answered %+v for %d points, but there are %d", got, cmd.Points, g.accruals[cmd.BusinessKey])
	}
	if cmd.Key == "" {
		return
	}
	key := bonus.CallerKey{Caller: cmd.Caller, Key: cmd.Key}
	saved, found, err := g.engine.Store.Answer(g.ctx, key)
	g.must(err)
	if !found || saved.Status != got.Status || string(saved.Body) != string(got.Body) || saved.AccrualID != got.AccrualID {
		t.Fatalf("answered %+v, saved %+v", got, saved)
	}
	if before, known := g.answers[key]; known && before.cmd != cmd {
		t.Fatalf("a key was answered for %+v and for %+v", before.cmd, cmd)
	}
	g.answers[key] = answered{cmd, got}
}

// complete brings the records of a poll, perhaps again, perhaps to both processes at once.
func (g *game) complete(t *rapid.T) {
	poll := make([]bonus.Completed, rapid.IntRange(1, 4).Draw(t, "poll"))
	for i := range poll {
		poll[i] = oneOf(t, "order", g.orders)
	}
	services := []*bonus.Service{g.process(t), g.process(t)}
	errs := make([]error, len(services))
	inParallel(len(services), func(i int) { errs[i] = errors.Join(g.evaluate(services[i], poll...)...) })
	g.must(errors.Join(errs...))
	for _, o := range poll {
		if g.evaluated[o.OrderID] {
			continue
		}
		g.evaluated[o.OrderID] = true
		for i, points := range []int64{22, 22, 2} { // the terms when all of the orders were placed
			key := bonus.BusinessKey{UserID: o.UserID, CampaignID: g.campaigns[i].ID, OrderID: o.OrderID}
			if _, stands := g.accruals[key]; !stands {
				g.accruals[key] = points
			}
		}
	}
}

// change gives a campaign other terms, which mean nothing for orders that are placed.
func (g *game) change(t *rapid.T) {
	c := oneOf(t, "changed", g.campaigns[1:])
	g.mustChange(c, func(terms *bonus.Terms) {
		terms.Value, terms.Active = rapid.Int64Range(1, 10_000).Draw(t, "value"), rapid.Bool().Draw(t, "active")
	})
}

// check is what holds after every move: the wallets hold what was accrued, once.
func (g *game) check(t *rapid.T) {
	left := maps.Clone(g.accruals)
	for _, user := range g.users {
		for _, e := range g.entries(user) {
			if points, expected := left[e.BusinessKey]; !expected || points != e.Points {
				t.Fatalf("entry %+v, want %d points (expected: %v)", e, points, expected)
			}
			delete(left, e.BusinessKey)
		}
	}
	if len(left) > 0 {
		t.Fatalf("not accrued: %s", fmt.Sprint(left))
	}
}

// end compares balances and messages with what was accrued in this game.
func (g *game) end(t *rapid.T) {
	balances := map[string]int64{}
	for key, points := range g.accruals {
		balances[key.UserID] += points
	}
	for _, user := range g.users {
		g.mustHave(user, balances[user])
	}
	if told := g.messages() - g.toldBefore; told != int64(len(g.accruals)) {
		t.Fatalf("%d messages tell of %d accruals", told, len(g.accruals))
	}
}
