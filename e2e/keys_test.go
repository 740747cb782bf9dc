package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	keep(t,
		promise{"50 identical requests at two processes make one order", keysTwoProcesses},
		promise{"a key has 1 to 255 characters", keysLength},
		promise{"a malformed key is refused and nothing is made", keysMalformed},
		promise{"a quoted key is the same key", keysQuoted},
		promise{"a key belongs to its user", keysPerUser},
		promise{"another command under the key is refused and the first one stays", keysReused},
		promise{"the command counts, not its spelling", keysSpelling},
		promise{"a refusal for stock leaves the key free", keysFreeAfterRefusal},
		promise{"an invalid body leaves the key free", keysFreeAfterInvalid},
		promise{"a replay is answered after closing time", keysAfterClosing},
		promise{"a replay shows the order as it is now", keysReplayNow},
	)
}

func keysTwoProcesses(t *testing.T) {
	twins := twinSites(t)
	v := openVenue(t, twins[0], counted("pelmeni", 100))
	key, answers := newKey(), make([]response, 50)
	together(len(answers), func(i int) {
		answers[i] = v.alice.at(twins[i%2]).place(t, key, v.portions(0, 1))
	})
	created := 0
	ids := map[string]bool{}
	for _, answer := range answers {
		switch answer.status {
		case 201, 200:
			ids[into[order](t, answer).ID] = true
			if answer.status == 201 {
				created++
			} else {
				wantReplay(t, answer)
			}
		default:
			answer.wantProblem(t, 409, "request_in_progress")
		}
	}
	if created != 1 || len(ids) != 1 {
		t.Errorf("%d answers 201 and %d orders, want one", created, len(ids))
	}
	v.wantStock(t, 0, 99)
}

// wantReplay checks what tells a replay from a first answer.
func wantReplay(t *testing.T, r response) order {
	t.Helper()
	replayed := into[order](t, r.want(t, 200))
	if r.header.Get("Idempotent-Replayed") != "true" || r.header.Get("Location") != "/v1/orders/"+replayed.ID {
		t.Errorf("replay with headers %v", r.header)
	}
	return replayed
}

func keysLength(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	for length, status := range map[int]int{1: 201, 255: 201, 256: 400, 10_000: 400} {
		answer := v.alice.place(t, randomKey(length), v.portions(0, 1))
		if status == 400 {
			answer.wantProblem(t, 400, "idempotency_key_invalid")
		}
		answer.want(t, status)
	}
	v.wantStock(t, 0, 98)
}

// randomKey uses all characters that a bare key may have.
func randomKey(length int) string {
	var key strings.Builder
	for key.Len() < length {
		if c := byte('!' + rand.IntN('~'-'!'+1)); c != '"' && c != ',' {
			key.WriteByte(c)
		}
	}
	return key.String()
}

func keysMalformed(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	key := newKey()
	for name, value := range map[string]string{
		"empty": "", "blanks": "   ", "list": key + ", " + key, "open quote": `"abc`, "inner quote": `a"b`, "text after quote": `"a"b`,
		"empty quotes": `""`, "Latin-1": "\xe9", "Cyrillic": "ключ", "inner tab": "a\tb", "inner blank": "a b",
	} {
		t.Run(name, func(t *testing.T) {
			answer := v.alice.sendRaw(t, v.alice.rawOrder(v.portions(0, 1), "Idempotency-Key: "+value))
			answer.wantProblem(t, 400, "idempotency_key_invalid")
		})
	}
	t.Run("twice", func(t *testing.T) {
		line := "Idempotency-Key: " + key
		v.alice.sendRaw(t, v.alice.rawOrder(v.portions(0, 1), line, line)).wantProblem(t, 400, "idempotency_key_invalid")
	})
	v.wantNothingPlaced(t)
}

// wantNothingPlaced checks that the venue's customer has no order and the first dish all of its 100 portions.
func (v *venue) wantNothingPlaced(t *testing.T) {
	t.Helper()
	if orders := v.alice.orders(t); len(orders) != 0 {
		t.Errorf("%d orders, want none", len(orders))
	}
	v.wantStock(t, 0, 100)
}

func keysQuoted(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	key := newKey()
	first := into[order](t, v.alice.place(t, `"`+key+`"`, v.portions(0, 1)).want(t, 201))
	if again := wantReplay(t, v.alice.place(t, key, v.portions(0, 1))); again.ID != first.ID {
		t.Errorf("order %s, want %s", again.ID, first.ID)
	}
}

func keysPerUser(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	bob, key := v.customer(t, newName("bob")), newKey()
	hers := into[order](t, v.alice.place(t, key, v.portions(0, 1)).want(t, 201))
	answer := bob.place(t, key, v.portions(0, 1)).want(t, 201)
	if his := into[order](t, answer); his.ID == hers.ID || his.UserID != bob.subject {
		t.Errorf("bob got %+v", his)
	}
	all := fmt.Sprint(answer.header, string(answer.body))
	if strings.Contains(all, hers.ID) || strings.Contains(all, v.alice.subject) {
		t.Errorf("the answer tells of somebody else's order: %s", all)
	}
}

func keysReused(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	key := newKey()
	first := into[order](t, v.alice.place(t, key, v.portions(0, 1)).want(t, 201))
	v.alice.place(t, key, v.portions(0, 2)).wantProblem(t, 422, "idempotency_key_reused")
	if again := wantReplay(t, v.alice.place(t, key, v.portions(0, 1))); again.ID != first.ID {
		t.Errorf("order %s, want %s", again.ID, first.ID)
	}
	v.wantStock(t, 0, 99)
}

func keysSpelling(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	key := newKey()
	one := fmt.Sprintf(`{"establishment_id":%q,"lines":[{"dish_id":%q,"quantity":1}]}`, v.id, v.dishes[0].ID)
	two := fmt.Sprintf(" { \"lines\" : [ {\n\t\"quantity\": 1, \"dish_id\": %q } ],\r\n \"establishment_id\": %q } ",
		strings.ToUpper(v.dishes[0].ID), v.id)
	first := into[order](t, v.alice.place(t, key, one).want(t, 201))
	again := v.alice.send(t, "POST", "/v1/orders", two, "Idempotency-Key", key, "User-Agent", "another/2",
		"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if replayed := wantReplay(t, again); replayed.ID != first.ID {
		t.Errorf("order %s, want %s", replayed.ID, first.ID)
	}
}

func keysFreeAfterRefusal(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 1))
	key := newKey()
	refusal := v.alice.place(t, key, v.portions(0, 2)).wantProblem(t, 409, "out_of_stock")
	if refusal.DishID != v.dishes[0].ID || refusal.Left == nil || *refusal.Left != 1 {
		t.Errorf("refusal names dish %s with %v left", refusal.DishID, refusal.Left)
	}
	v.cook.send(t, "PATCH", "/v1/dishes/"+v.dishes[0].ID, map[string]int{"stock": 5}).want(t, 200)
	v.alice.place(t, key, v.portions(0, 2)).want(t, 201)
	v.wantStock(t, 0, 3)
}

func keysFreeAfterInvalid(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	key := newKey()
	v.alice.place(t, key, v.order()).wantProblem(t, 400, "invalid_request")
	v.alice.place(t, key, v.portions(0, 0)).wantProblem(t, 400, "invalid_request")
	v.alice.place(t, key, v.portions(0, 1)).want(t, 201)
}

func keysAfterClosing(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	key := newKey()
	v.alice.place(t, key, v.portions(0, 1)).want(t, 201)
	v.cook.send(t, "PATCH", v.path(""), map[string]string{"state": "closed"}).want(t, 200)
	wantReplay(t, v.alice.place(t, key, v.portions(0, 1)))
	v.alice.place(t, newKey(), v.portions(0, 1)).wantProblem(t, 409, "establishment_closed")
}

func keysReplayNow(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	key := newKey()
	id := into[order](t, v.alice.place(t, key, v.portions(0, 1)).want(t, 201)).ID
	v.alice.cancel(t, id).want(t, 200)
	if now := wantReplay(t, v.alice.place(t, key, v.portions(0, 1))); now.ID != id || now.Status != "cancelled" {
		t.Errorf("replayed order %s is %s", now.ID, now.Status)
	}
}
