package bonustest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/internal/bonus"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/money"
)

// order is a completed order of 450.00, placed when all campaigns were in force as they are.
func (w *world) order(user string) bonus.Completed {
	return bonus.Completed{
		OrderID: uuid.New(), UserID: user, EstablishmentID: uuid.New(), Total: rub(450_00), PlacedAt: w.latest,
	}
}

func (w *world) evaluate(service *bonus.Service, orders ...bonus.Completed) []error {
	w.mu.Lock()
	for _, o := range orders {
		w.users[o.UserID] = true
	}
	w.mu.Unlock()
	return service.Evaluate(w.ctx, orders)
}

func (w *world) mustEvaluate(orders ...bonus.Completed) {
	w.t.Helper()
	w.must(errors.Join(w.evaluate(w.service, orders...)...))
}

// earned is what a user got for an order, by campaign.
func (w *world) earned(o bonus.Completed) map[uuid.UUID]int64 {
	w.t.Helper()
	points := map[uuid.UUID]int64{}
	for _, e := range w.entries(o.UserID) {
		if e.OrderID == o.OrderID {
			points[e.CampaignID] = e.Points
		}
	}
	return points
}

func (w *world) mustEarn(o bonus.Completed, want map[uuid.UUID]int64) {
	w.t.Helper()
	w.mustEvaluate(o)
	if diff := cmp.Diff(want, w.earned(o)); diff != "" {
		w.t.Errorf("points by campaign (-want +got):\n%s", diff)
	}
	if !w.evaluated(o) {
		w.t.Errorf("order %s has no evaluation", o.OrderID)
	}
}

// evaluated says whether the order has an evaluation, whatever it earned.
func (w *world) evaluated(o bonus.Completed) bool {
	w.t.Helper()
	var inserted []uuid.UUID
	err := w.engine.Store.Write(w.ctx, func(tx bonus.Tx) (err error) {
		inserted, err = tx.InsertEvaluations([]bonus.Evaluation{{OrderID: o.OrderID, UserID: "x", Total: rub(0)}})
		return errors.Join(err, errStop)
	})
	if !errors.Is(err, errStop) {
		w.t.Fatal(err)
	}
	return len(inserted) == 0
}

func accruesOncePerCampaign(t *testing.T, w *world) {
	w.mustCreate(fixed(50))
	for range 5 {
		o := w.order("alice")
		repeat := o // within one poll, and not even an honest one
		repeat.Total.Amount = 1_000_00
		inParallel(5, func(i int) {
			if err := errors.Join(w.evaluate(w.processes()[i%2], o, repeat)...); err != nil {
				t.Error(err)
			}
		})
		w.mustEvaluate(o)
	}
	w.mustHave("alice", 5*(22+50))
}

// racesAClient lets a client ask for the same points as an order brings, or for others.
func racesAClient(t *testing.T, w *world) {
	for i := range 20 {
		o := w.order("alice")
		points := int64(22 + i%2)
		inParallel(2, func(side int) {
			if side == 0 {
				if err := errors.Join(w.evaluate(w.service, o)...); err != nil {
					t.Error(err)
				}
				return
			}
			_, err := w.accrue(w.other, bonus.Accrue{BusinessKey: w.businessKey(o), Points: points, Caller: caller})
			if late := points != 22 && fault.CodeOf(err) == fault.AccrualConflict; err != nil && !late {
				t.Error(err)
			}
		})
		if got := w.earned(o)[w.campaign.ID]; got != 22 && got != points {
			t.Errorf("%d points", got)
		}
	}
}

// businessKey is that of the order and the first campaign.
func (w *world) businessKey(o bonus.Completed) bonus.BusinessKey {
	return bonus.BusinessKey{UserID: o.UserID, CampaignID: w.campaign.ID, OrderID: o.OrderID}
}

func letsAnAccrualStand(_ *testing.T, w *world) {
	c := w.mustCreate(fixed(50))
	o := w.order("alice")
	w.mustAccrue(bonus.Accrue{BusinessKey: w.businessKey(o), Points: 7, Caller: caller})
	w.mustEarn(o, map[uuid.UUID]int64{w.campaign.ID: 7, c.ID: 50})
}

// losesToAClient has a client accrue after the evaluation has looked: it runs again, evaluation row and all.
func losesToAClient(_ *testing.T, w *world) {
	c := w.mustCreate(fixed(50))
	o := w.order("alice")
	loser := w.outrunBy(func() { w.mustAccrue(bonus.Accrue{BusinessKey: w.businessKey(o), Points: 7, Caller: caller}) })
	w.must(errors.Join(w.evaluate(loser, o)...))
	w.mustEarn(o, map[uuid.UUID]int64{w.campaign.ID: 7, c.ID: 50})
}

func judgesByTheTermsAtPlacing(_ *testing.T, w *world) {
	before := w.order("alice")
	before.PlacedAt = w.campaign.CreatedAt.Add(-1)
	atFive := w.order("alice")
	changed := w.mustChange(w.campaign, func(t *bonus.Terms) { t.Value = 100 })
	justBefore, atOne := w.order("alice"), w.order("alice")
	justBefore.PlacedAt, atOne.PlacedAt = changed.UpdatedAt.Add(-1), changed.UpdatedAt
	off := w.retire(w.campaign)
	atNothing := w.order("alice")
	atNothing.PlacedAt = off.UpdatedAt
	w.mustEvaluate(atNothing, atOne, atFive, justBefore, before) // in one poll each has the terms of its own time
	w.mustEarn(before, map[uuid.UUID]int64{})                    // no version reaches back before the campaign was there
	w.mustEarn(atFive, map[uuid.UUID]int64{w.campaign.ID: 22})
	w.mustEarn(justBefore, map[uuid.UUID]int64{w.campaign.ID: 22})
	w.mustEarn(atOne, map[uuid.UUID]int64{w.campaign.ID: 4})
	w.mustEarn(atNothing, map[uuid.UUID]int64{})
}

func judgesByTheConditions(t *testing.T, w *world) {
	w.retire(w.campaign)
	here := uuid.New()
	for name, c := range map[string]struct {
		terms func(*bonus.Terms)
		order func(*bonus.Completed)
		want  int64
	}{
		"all of it":                {want: 22},
		"not active":               {terms: func(t *bonus.Terms) { t.Active = false }},
		"its establishment":        {terms: func(t *bonus.Terms) { t.EstablishmentID = &here }, want: 22},
		"another establishment":    {terms: func(t *bonus.Terms) { t.EstablishmentID = new(uuid.New()) }},
		"at the minimum":           {terms: func(t *bonus.Terms) { t.MinOrder = 450_00 }, want: 22},
		"below the minimum":        {terms: func(t *bonus.Terms) { t.MinOrder = 450_01 }},
		"below the cap":            {terms: func(t *bonus.Terms) { t.CapPerOrder = 23 }, want: 22},
		"above the cap":            {terms: func(t *bonus.Terms) { t.CapPerOrder = 10 }, want: 10},
		"not begun":                {terms: func(t *bonus.Terms) { t.StartsAt = w.latest.AddDate(1, 0, 0) }},
		"less than a point":        {order: func(o *bonus.Completed) { o.Total.Amount = 19_99 }},
		"nothing":                  {order: func(o *bonus.Completed) { o.Total.Amount = 0 }},
		"more than a double holds": {order: func(o *bonus.Completed) { o.Total.Amount = 9_007_199_254_740_993 }, want: 4_503_599_627_370},
		"yen":                      {order: func(o *bonus.Completed) { o.Total.Currency = "JPY" }, want: 2250},
		"the most of a currency":   {order: func(o *bonus.Completed) { o.Total.Amount = math.MaxInt64 }, want: 4_611_686_018_427_387},
	} {
		terms := percent(500)
		if c.terms != nil {
			c.terms(&terms)
		}
		campaign := w.mustCreate(terms)
		o := w.order("alice")
		o.EstablishmentID = here
		if c.order != nil {
			c.order(&o)
		}
		w.mustEvaluate(o)
		if got := w.earned(o)[campaign.ID]; got != c.want {
			t.Errorf("%s: %d points, want %d", name, got, c.want)
		}
		w.retire(campaign)
	}
}

// endsAWindowByTheMoment has a campaign until 31 March of a zone in which that day ends earlier than elsewhere.
func endsAWindowByTheMoment(_ *testing.T, w *world) {
	w.retire(w.campaign)
	india := mustZone(w.t, "Asia/Kolkata")
	ends := nextMarch(w.latest.In(india))
	terms := fixed(50)
	terms.Timezone, terms.EndsAt = "Asia/Kolkata", &ends
	c := w.mustCreate(terms)
	in, out := w.order("alice"), w.order("alice")
	in.PlacedAt, out.PlacedAt = ends.Add(-time.Second).UTC(), ends.UTC()
	w.mustEarn(in, map[uuid.UUID]int64{c.ID: 50})
	w.mustEarn(out, map[uuid.UUID]int64{})
}

// neverDecidesAnew brings the record of an order again after everything has changed.
func neverDecidesAnew(_ *testing.T, w *world) {
	o := w.order("alice")
	nothing := w.order("bob")
	nothing.Total.Amount = 1
	w.mustEarn(o, map[uuid.UUID]int64{w.campaign.ID: 22})
	w.mustEarn(nothing, map[uuid.UUID]int64{})
	w.mustCreate(fixed(50))
	o.PlacedAt, nothing.PlacedAt = w.latest, w.latest
	o.Total.Amount, nothing.Total.Amount = 1_000_000_00, 1_000_000_00
	o.UserID = "bob" // as no honest record does
	w.mustEvaluate(o, nothing)
	w.mustHave("alice", 22)
	w.mustHave("bob", 0)
}

func refusesIllFormedOrders(t *testing.T, w *world) {
	changes := []func(*bonus.Completed){
		func(o *bonus.Completed) { o.OrderID = uuid.Nil },
		func(o *bonus.Completed) { o.EstablishmentID = uuid.Nil },
		func(o *bonus.Completed) { o.UserID = "" },
		func(o *bonus.Completed) { o.UserID = "a b" },
		func(o *bonus.Completed) { o.UserID = "\x00" },
		func(o *bonus.Completed) { o.UserID = strings.Repeat("a", 65) },
		func(o *bonus.Completed) { o.Total.Currency = "" },
		func(o *bonus.Completed) { o.Total.Currency = "rub" },
		func(o *bonus.Completed) { o.Total.Amount = -1 },
		func(o *bonus.Completed) { o.PlacedAt = zero },
	}
	var orders []bonus.Completed
	for _, change := range changes {
		bad := w.order("alice")
		change(&bad)
		orders = append(orders, bad, w.order("alice"))
	}
	for i, err := range w.evaluate(w.service, orders...) {
		if bad := i%2 == 0; bad && fault.CodeOf(err) != fault.InvalidRequest || !bad && err != nil {
			t.Errorf("order %d: %v", i, err)
		}
		if i%2 == 0 && w.evaluated(orders[i]) {
			t.Errorf("order %d was refused and has an evaluation", i)
		}
	}
	w.mustHave("alice", int64(len(changes))*22)
}

func overflowHarmsNoOther(t *testing.T, w *world) {
	w.mustFill(100)
	w.mustCreate(fixed(40))
	more := fixed(30)
	more.EstablishmentID = new(uuid.New())
	w.mustCreate(more)
	poll := []bonus.Completed{w.order("alice"), w.order("bob"), w.order("alice")}
	poll[1].EstablishmentID = *more.EstablishmentID
	for i, err := range w.evaluate(w.service, poll...) {
		if want := []fault.Code{"", fault.InvalidRequest, ""}[i]; fault.CodeOf(err) != want || want == "" && err != nil {
			t.Errorf("order %d: %v", i, err)
		}
	}
	w.mustHave("alice", 80)
	w.mustHave("bob", 0)
	if w.evaluated(poll[1]) {
		t.Error("an order that could not be booked has an evaluation: it would never be decided again")
	}
}

// sumsNeverWrap has one poll bring more points than 64 bits hold.
func sumsNeverWrap(t *testing.T, w *world) {
	w.retire(w.campaign)
	w.mustCreate(percent(10_000))
	poll := []bonus.Completed{w.order("alice"), w.order("bob"), w.order("carol")}
	for i := range poll {
		poll[i].Total = money.Money{Amount: math.MaxInt64, Currency: "JPY"}
	}
	booked := 0
	for i, err := range w.evaluate(w.service, poll...) {
		switch {
		case err == nil:
			booked++
			w.mustHave(poll[i].UserID, math.MaxInt64)
		case fault.CodeOf(err) != fault.InvalidRequest:
			t.Error(err)
		}
	}
	w.same("orders that were booked", 1, booked)
}

// decidesNothingAfterAFailure has a store fail between two transactions of a long poll: what is behind the failure has
// that error, even an order that would be refused.
func decidesNothingAfterAFailure(t *testing.T, w *world) {
	poll := make([]bonus.Completed, 300)
	for i := range poll {
		poll[i] = w.order("alice")
	}
	poll[299].UserID = ""
	failing := w.newService(&failsAfter{w.engine.Store, 1})
	decided := 0
	for i, err := range w.evaluate(failing, poll...) {
		if err == nil && decided == i {
			decided++
			continue
		}
		if failed, ok := errors.AsType[*batch.RunError](err); !ok || !errors.Is(failed, context.DeadlineExceeded) {
			t.Errorf("order %d: %v", i, err)
		}
	}
	if decided == 0 || decided == len(poll) {
		t.Errorf("%d orders are decided", decided)
	}
	w.mustHave("alice", int64(decided)*22)
	for _, i := range []int{decided, 298} {
		if w.evaluated(poll[i]) {
			t.Errorf("order %d is evaluated, behind the failure", i)
		}
	}
}

func tellsInTheTrace(t *testing.T, w *world) {
	traceparent := func(n int) string { return fmt.Sprintf("00-%032x-%016x-01", n, n) }
	o := w.order("alice")
	o.Trace = traceparent(1)
	w.mustEvaluate(o)
	cmd := w.command("alice", 1, "k")
	cmd.Trace = traceparent(2)
	w.mustAccrue(cmd)
	rows, err := w.engine.Outbox.Pending(w.ctx, 0, 10)
	w.must(err)
	if len(rows) != 2 {
		t.Fatalf("%d messages", len(rows))
	}
	for i, row := range rows {
		if got := event.Open(row.Headers).TraceParent; got != traceparent(i+1) {
			t.Errorf("message %d is in trace %q", i, got)
		}
	}
}
