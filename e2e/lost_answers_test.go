package e2e

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestLostAnswers(t *testing.T) {
	keep(t,
		promise{"a client that hangs up at once finds one order by its key", lostAtOnce},
		promise{"a client that gives up after 20 ms finds one order by its key", lostAfterAWhile},
		promise{"a process killed during requests finds one order by each key", lostByKill},
	)
}

// lostAtOnce closes the connection when the request is written, whatever the server has read of it.
func lostAtOnce(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	wantOneEach(t, v, func(key string) {
		conn := v.alice.dial(t)
		_, _ = conn.Write(v.alice.rawOrder(v.portions(0, 1), "Idempotency-Key: "+key))
		conn.Close()
	})
}

func lostAfterAWhile(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	wantOneEach(t, v, func(key string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		request, err := v.alice.request("POST", "/v1/orders", v.portions(0, 1), keyed(key)...)
		if err != nil {
			t.Error(err)
			return
		}
		do(t, request.WithContext(ctx)) // answered or not
	})
}

func lostByKill(t *testing.T) {
	v := openVenue(t, soloSite(t), counted("pelmeni", 100))
	for range 3 {
		var first sync.Once
		kill := func() { first.Do(func() { v.kitchen.kill(t) }) }
		keys := sendEach(func(key string) {
			if v.alice.try(t, "POST", "/v1/orders", v.portions(0, 1), keyed(key)...).status == 201 {
				kill()
			}
		})
		kill()
		v.kitchen.restart(t)
		wantOneByKey(t, v, keys)
		v.patch(t, "", map[string]any{"stock": 100}).want(t, 200)
		v.alice = v.customer(t, newName("alice"))
	}
}

// wantOneEach sends requests whose answers are lost, each under a key of its own, and sends each again.
func wantOneEach(t *testing.T, v *venue, send func(key string)) {
	t.Helper()
	wantOneByKey(t, v, sendEach(send))
}

func sendEach(send func(key string)) []string {
	keys := make([]string, 40)
	together(len(keys), func(i int) {
		keys[i] = newKey()
		send(keys[i])
	})
	return keys
}

// wantOneByKey sends a request of one portion again under each key, and wants one order for each.
func wantOneByKey(t *testing.T, v *venue, keys []string) {
	t.Helper()
	ids := map[string]bool{}
	for _, key := range keys {
		answer := v.alice.place(t, key, v.portions(0, 1))
		if answer.status != 200 {
			answer.want(t, 201)
		}
		ids[into[order](t, answer).ID] = true
	}
	if orders := v.alice.orders(t); len(ids) != len(keys) || len(orders) != len(keys) {
		t.Errorf("%d keys found %d orders of %d", len(keys), len(ids), len(orders))
	}
	v.wantStock(t, 0, int64(100-len(keys)))
}
