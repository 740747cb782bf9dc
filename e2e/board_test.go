package e2e

import (
	"testing"
)

func TestBoard(t *testing.T) {
	keep(t,
		promise{"a button that another tablet has passed is a repeat", boardTwoTablets},
		promise{"many tablets that press at once make one step", boardManyTablets},
		promise{"kitchen's own accepted doesn't take a started ticket back", boardStartedStays},
		promise{"a ticket ends as its order when customer and staff end it at once", boardCancelAndReject},
		promise{"a rejection needs a reason", boardReason},
		promise{"tickets are listed by status", boardList},
	)
}

func boardTwoTablets(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	v.cook.press(t, id, "accept").want(t, 200)
	v.cook.press(t, id, "start").want(t, 200)
	again := into[ticket](t, v.cook.press(t, id, "accept").want(t, 200))
	if again.Status != "cooking" {
		t.Errorf("ticket is %s, want cooking", again.Status)
	}
	v.awaitOrder(t, id, "cooking")
	v.bus(t).settleStatuses(t)
	v.wantHistory(t, id, "placed accepted cooking")
}

func boardManyTablets(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	answers := make([]response, 20)
	together(len(answers), func(i int) { answers[i] = v.cook.press(t, id, "accept") })
	if n := count(answers); n[200] != 20 {
		t.Errorf("answers %v, want 20 times 200", n)
	}
	v.awaitOrder(t, id, "accepted")
	bus := v.bus(t)
	if dead := bus.deadLetters(t, id); len(dead) != 0 {
		t.Errorf("dead letters %v", dead)
	}
	if events := v.alice.events(t, id); len(events) != 2 || events[1].To != "accepted" {
		t.Errorf("events %+v", events)
	}
}

// boardStartedStays has kitchen tell of accepted only after staff have started cooking: kitchen is down meanwhile.
func boardStartedStays(t *testing.T) {
	s := splitSite(t)
	v := openVenue(t, s, counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	s.kitchen.stop(t)
	v.cook.press(t, id, "accept").want(t, 200)
	v.cook.press(t, id, "start").want(t, 200)
	s.kitchen.restart(t)
	bus := v.bus(t)
	eventually(t, "order cooking", func() bool {
		if now := v.cook.ticketNow(t, id).Status; now != "cooking" {
			t.Fatalf("ticket went to %s", now)
		}
		return v.alice.orderNow(t, id).Status == "cooking"
	})
	s.settle(t)
	bus.settle(t, "establishment", ordersTopic)
	if now := v.cook.ticketNow(t, id).Status; now != "cooking" {
		t.Errorf("ticket ended %s", now)
	}
	v.wantHistory(t, id, "placed accepted cooking")
}

func boardCancelAndReject(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	for range 10 {
		id := v.placed(t, v.portions(0, 7)).ID
		v.awaitTicket(t, id)
		together(2, func(i int) {
			if i == 0 {
				v.alice.cancel(t, id)
			} else {
				v.cook.press(t, id, "reject")
			}
		})
		v.bus(t).settleStatuses(t)
		end := v.alice.orderNow(t, id).Status
		if end != "cancelled" && end != "rejected" {
			t.Fatalf("order is %s", end)
		}
		v.awaitTicketStatus(t, id, end)
		v.wantHistory(t, id, "placed "+end)
		v.wantStock(t, 0, 100)
	}
}

func boardReason(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	for _, body := range []string{`{"action":"reject"}`, `{"action":"reject","reason":" "}`, `{"action":"burn"}`, `{}`} {
		v.cook.send(t, "POST", "/v1/tickets/"+id+"/advance", body).wantProblem(t, 400, "invalid_request")
	}
	if now := v.cook.ticketNow(t, id); now.Status != "placed" || !now.Published {
		t.Errorf("ticket %+v", now)
	}
}

func boardList(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	waiting, accepted := v.placed(t, v.portions(0, 1)).ID, v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, waiting)
	v.awaitTicket(t, accepted)
	v.cook.press(t, accepted, "accept").want(t, 200)
	for query, want := range map[string][]string{
		"": {accepted, waiting}, "?status=placed": {waiting}, "?status=accepted": {accepted}, "?status=ready": {},
	} {
		got := into[list[ticket]](t, v.cook.send(t, "GET", "/v1/tickets"+query, nil).want(t, 200)).Items
		if len(got) != len(want) {
			t.Fatalf("%q lists %d tickets, want %d", query, len(got), len(want))
		}
		for i := range want {
			if got[i].OrderID != want[i] {
				t.Errorf("%q lists %s at %d, want %s", query, got[i].OrderID, i, want[i])
			}
		}
	}
}
