package e2e

import (
	"testing"
)

func TestStock(t *testing.T) {
	keep(t,
		promise{"the last portion is sold once", stockLastPortion},
		promise{"lines of the same dish are counted together", stockSameDishTwice},
		promise{"orders that name dishes in opposite order don't block each other", stockOppositeOrder},
		promise{"20 cancellations at once give it back once", stockCancelledAtOnce},
		promise{"a cancellation and a rejection at once give it back once", stockCancelAndReject},
		promise{"two keyless rejections at once give it back once", stockRejectedTwice},
		promise{"a dish that was not counted when ordered gives nothing back", stockNotCounted},
		promise{"a count of something else than expected is refused", stockUnexpected},
		promise{"a delta under a key counts once", stockDelta},
		promise{"a refused order takes nothing of any dish", stockAllOrNothing},
	)
}

// count counts answers by status.
func count(answers []response) map[int]int {
	n := map[int]int{}
	for _, answer := range answers {
		n[answer.status]++
	}
	return n
}

func stockLastPortion(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 1))
	answers := make([]response, 50)
	together(len(answers), func(i int) { answers[i] = v.alice.place(t, "", v.portions(0, 1)) })
	if n := count(answers); n[201] != 1 || n[409] != 49 {
		t.Errorf("answers %v, want one 201 and 49 409", n)
	}
	for _, answer := range answers {
		if answer.status == 409 {
			answer.wantProblem(t, 409, "out_of_stock")
		}
	}
	v.wantStock(t, 0, 0)
}

func stockSameDishTwice(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 1))
	twice := v.order(orderLine{v.dishes[0].ID, 1}, orderLine{v.dishes[0].ID, 1})
	v.alice.place(t, "", twice).wantProblem(t, 409, "out_of_stock")
	v.wantStock(t, 0, 1)
	if orders := v.alice.orders(t); len(orders) != 0 {
		t.Errorf("%d orders, want none", len(orders))
	}
}

func stockOppositeOrder(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("borscht", 1000), counted("pelmeni", 1000))
	there := []orderLine{{v.dishes[0].ID, 1}, {v.dishes[1].ID, 1}}
	back := []orderLine{there[1], there[0]}
	answers := make([]response, 100)
	together(len(answers), func(i int) {
		answers[i] = v.alice.place(t, "", v.order([][]orderLine{there, back}[i%2]...))
	})
	if n := count(answers); n[201] != 100 {
		t.Errorf("answers %v, want 100 times 201", n)
	}
	v.wantStock(t, 0, 900)
	v.wantStock(t, 1, 900)
}

func stockCancelledAtOnce(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	answers := make([]response, 20)
	together(len(answers), func(i int) { answers[i] = v.alice.cancel(t, id) })
	if n := count(answers); n[200] != 20 {
		t.Errorf("answers %v, want 20 times 200", n)
	}
	v.wantStock(t, 0, 100)
	v.wantHistory(t, id, "placed cancelled")
}

func stockCancelAndReject(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	for range 10 {
		id := v.placed(t, v.portions(0, 7)).ID
		answers := make([]response, 2)
		together(2, func(i int) {
			answers[i] = []func() response{
				func() response { return v.alice.cancel(t, id) },
				func() response { return v.robot.report(t, id+":rejected", id, "rejected") },
			}[i]()
		})
		if n := count(answers); n[200] != 1 || n[409] != 1 {
			t.Errorf("answers %v, want one 200 and one 409", n)
		}
		v.wantStock(t, 0, 100)
		want := map[bool]string{true: "placed cancelled", false: "placed rejected"}
		v.wantHistory(t, id, want[answers[0].status == 200])
	}
}

func stockRejectedTwice(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 7)).ID
	answers := make([]response, 2)
	together(2, func(i int) { answers[i] = v.robot.report(t, "", id, "rejected") })
	if n := count(answers); n[200] != 2 {
		t.Errorf("answers %v, want 200 twice", n)
	}
	v.wantStock(t, 0, 100)
	v.wantHistory(t, id, "placed rejected")
}

// patch changes the first dish.
func (v *venue) patch(t *testing.T, key string, body map[string]any) response {
	t.Helper()
	return v.cook.send(t, "PATCH", "/v1/dishes/"+v.dishes[0].ID, body, keyed(key)...)
}

func stockNotCounted(t *testing.T) {
	v := openVenue(t, sharedSite(t), uncounted("kompot"))
	id := v.placed(t, v.portions(0, 2)).ID
	v.patch(t, "", map[string]any{"stock": 10}).want(t, 200)
	v.alice.cancel(t, id).want(t, 200)
	v.wantStock(t, 0, 10)
}

func stockUnexpected(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 12))
	v.placed(t, v.portions(0, 5))
	recount := map[string]any{"stock": 20, "expected_stock": 12}
	v.patch(t, "", recount).wantProblem(t, 409, "stock_changed")
	v.wantStock(t, 0, 7)
	recount["expected_stock"] = 7
	v.patch(t, "", recount).want(t, 200)
	v.wantStock(t, 0, 20)
}

func stockDelta(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 10))
	key := newKey()
	for range 3 {
		v.patch(t, key, map[string]any{"stock_delta": 5}).want(t, 200)
	}
	v.wantStock(t, 0, 15)
	v.patch(t, key, map[string]any{"stock_delta": 6}).wantProblem(t, 422, "idempotency_key_reused")
	v.patch(t, newKey(), map[string]any{"stock_delta": -16}).wantProblem(t, 409, "out_of_stock")
	v.patch(t, "", map[string]any{"stock_delta": 1}).wantProblem(t, 400, "invalid_request")
	v.wantStock(t, 0, 15)
}

func stockAllOrNothing(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("borscht", 10), counted("pelmeni", 1))
	v.alice.place(t, "", v.order(orderLine{v.dishes[0].ID, 5}, orderLine{v.dishes[1].ID, 2})).wantProblem(t, 409, "out_of_stock")
	v.wantStock(t, 0, 10)
	v.wantStock(t, 1, 1)
}
