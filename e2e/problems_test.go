package e2e

import (
	"encoding/json"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestProblems(t *testing.T) {
	keep(t, promise{"a document leads to a page whose example has its members", problemPages})
}

// problemPages provokes every kind of problem that can be had by asking, and looks its type up.
func problemPages(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 3), uncounted("tea"))
	nobody := client{site: v.site}
	off := v.dishes[1].ID
	v.cook.send(t, "PATCH", "/v1/dishes/"+off, map[string]any{"available": false}).want(t, 200)
	done := v.placed(t, v.portions(0, 1)).ID
	v.alice.cancel(t, done).want(t, 200)
	v.alice.place(t, "taken", v.portions(0, 1)).want(t, 201)

	pelmeni := "/v1/dishes/" + v.dishes[0].ID
	expensive := map[string]any{"establishment_id": v.id, "lines": []any{
		map[string]any{"dish_id": v.dishes[0].ID, "quantity": 1, "expected_price": rub(1)},
	}}
	for code, answer := range map[string]response{
		"invalid_request":         v.alice.place(t, "", v.portions(0, 0)),
		"idempotency_key_invalid": v.alice.place(t, "a,b", v.portions(0, 1)),
		"unauthenticated":         nobody.send(t, "GET", "/v1/orders", nil),
		"forbidden":               v.cook.place(t, "", v.portions(0, 1)),
		"not_found":               v.alice.send(t, "GET", "/v1/orders/"+newKey(), nil),
		"method_not_allowed":      v.alice.send(t, "DELETE", "/v1/orders", nil),
		"out_of_stock":            v.alice.place(t, "", v.portions(0, 9)),
		"dish_unavailable":        v.alice.place(t, "", v.portions(1, 1)),
		"price_changed":           v.alice.place(t, "", expensive),
		"invalid_transition":      v.cook.report(t, "", done, "accepted"),
		"stock_changed":           v.cook.send(t, "PATCH", pelmeni, map[string]any{"stock": 9, "expected_stock": 8}),
		"payload_too_large":       v.alice.place(t, "", strings.Repeat(" ", 70_000)),
		"unsupported_media_type":  v.alice.send(t, "POST", "/v1/orders", nil),
		"idempotency_key_reused":  v.alice.place(t, "taken", v.portions(0, 2)),
	} {
		v.wantPage(t, code, answer)
	}
	v.wantPage(t, "accrual_conflict", v.accrueTwice(t))
	v.cook.send(t, "PATCH", v.path(""), map[string]any{"min_order": rub(9999_00)}).want(t, 200)
	v.wantPage(t, "below_minimum", v.alice.place(t, "", v.portions(0, 1)))
	v.cook.send(t, "PATCH", v.path(""), map[string]any{"state": "closed"}).want(t, 200)
	v.wantPage(t, "establishment_closed", v.alice.place(t, "", v.portions(0, 1)))
}

// accrueTwice accrues points, and other points for the same.
func (v *venue) accrueTwice(t *testing.T) (second response) {
	t.Helper()
	campaigns := into[list[struct {
		ID string `json:"id"`
	}]](t, v.chief.send(t, "GET", "/v1/campaigns", nil).want(t, 200)).Items
	accrual := map[string]any{"user_id": v.alice.subject, "campaign_id": campaigns[0].ID, "order_id": newKey(), "points": 5}
	v.chief.send(t, "POST", "/v1/bonuses", accrual).want(t, 201)
	accrual["points"] = 6
	return v.chief.send(t, "POST", "/v1/bonuses", accrual)
}

var shownDocument = regexp.MustCompile(`(?s)<pre><code>(.*?)</code></pre>`)

// wantPage fails unless the answer is a problem of that code, and the page of its type shows one like it.
func (v *venue) wantPage(t *testing.T, code string, answer response) {
	t.Helper()
	p := answer.wantProblem(t, answer.status, code)
	page := client{site: v.site}.send(t, "GET", p.Type, nil).want(t, 200)
	shown := shownDocument.FindSubmatch(page.body)
	if shown == nil {
		t.Fatalf("%s: no example", code)
	}
	example, real := members(t, []byte(html.UnescapeString(string(shown[1])))), members(t, answer.body)
	if got, want := slices.Sorted(maps.Keys(example)), slices.Sorted(maps.Keys(real)); !slices.Equal(got, want) {
		t.Errorf("%s: the example has %v, a real one %v", code, got, want)
	}
	for _, same := range []string{"type", "title", "status", "code", "retryable"} {
		if string(example[same]) != string(real[same]) {
			t.Errorf("%s: the example's %s is %s, the real one's %s", code, same, example[same], real[same])
		}
	}
}

func members(t *testing.T, document []byte) (m map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(document, &m); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	return m
}
