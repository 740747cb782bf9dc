package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// buttons are the presses that carry an order to its end, with what they make of it.
var buttons = []struct{ action, status string }{
	{"accept", "accepted"}, {"start", "cooking"}, {"ready", "ready"}, {"complete", "completed"},
}

func TestOrder(t *testing.T) {
	keep(t,
		promise{"goes from placed to completed by the buttons of the board", orderCompletes},
		promise{"gives its stock back once when it ends early", orderEndsEarly},
		promise{"is found by its key after a lost answer", orderFoundByKey},
		promise{"is nobody else's business", orderRoles},
	)
}

func orderCompletes(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 10), uncounted("kompot"))
	request := v.order(orderLine{v.dishes[0].ID, 2}, orderLine{v.dishes[1].ID, 1})
	request.Comment = "no onions"
	answer := v.alice.place(t, newKey(), request).want(t, 201)
	placed := into[order](t, answer)
	if want := "/v1/orders/" + placed.ID; answer.header.Get("Location") != want {
		t.Errorf("Location is %q, want %q", answer.header.Get("Location"), want)
	}
	if placed.Status != "placed" || placed.Total != rub(990_00) || placed.Seq != 1 {
		t.Errorf("placed %+v", placed)
	}
	wantTicketOf(t, v, placed)
	for _, b := range buttons {
		pressed := into[ticket](t, v.cook.press(t, placed.ID, b.action).want(t, 200))
		if pressed.Status != b.status || !pressed.Published {
			t.Errorf("%s: ticket %+v", b.action, pressed)
		}
	}
	v.awaitOrder(t, placed.ID, "completed")
	v.wantStock(t, 0, 8)
	wantStaffEvents(t, v, placed.ID)
}

// wantTicketOf compares a ticket with its order.
func wantTicketOf(t *testing.T, v *venue, placed order) {
	t.Helper()
	want := ticket{
		OrderID: placed.ID, Code: placed.Code, EstablishmentID: v.id, Status: "placed", Lines: placed.Lines,
		Comment: placed.Comment, Total: placed.Total, Published: true,
	}
	if diff := cmp.Diff(want, v.awaitTicket(t, placed.ID)); diff != "" {
		t.Errorf("ticket (-want +got):\n%s", diff)
	}
}

// wantStaffEvents checks the history of an order that the board carried to its end.
func wantStaffEvents(t *testing.T, v *venue, id string) {
	t.Helper()
	want := []event{{Seq: 1, To: "placed", Actor: "customer:" + v.alice.subject, Deliveries: 1}}
	for i, b := range buttons {
		want = append(want, event{
			Seq: int64(i + 2), From: new(want[i].To), To: b.status, Actor: "staff:" + v.id,
			IdempotencyKey: new(id + ":" + b.status), Deliveries: 1,
		})
	}
	if diff := cmp.Diff(want, v.alice.events(t, id)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func orderEndsEarly(t *testing.T) {
	for _, e := range []ending{
		{"rejected by staff", "rejected", "out of gas", func(t *testing.T, v *venue, id string) response {
			return v.cook.press(t, id, "reject")
		}},
		{"cancelled by its customer", "cancelled", "", func(t *testing.T, v *venue, id string) response {
			return v.alice.cancel(t, id)
		}},
		{"cancelled by staff", "cancelled", "out of gas", func(t *testing.T, v *venue, id string) response {
			v.cook.press(t, id, "accept").want(t, 200)
			return v.cook.press(t, id, "cancel")
		}},
	} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			wantReturned(t, e)
		})
	}
}

// ending is a way for an order to end before it is eaten.
type ending struct {
	name, status, reason string
	end                  func(t *testing.T, v *venue, id string) response
}

func wantReturned(t *testing.T, e ending) {
	t.Helper()
	v := openVenue(t, sharedSite(t), counted("pelmeni", 10))
	id := v.placed(t, v.portions(0, 3)).ID
	v.awaitTicket(t, id)
	v.wantStock(t, 0, 7)
	for range 3 {
		e.end(t, v, id).want(t, 200)
	}
	v.awaitOrder(t, id, e.status)
	v.awaitTicketStatus(t, id, e.status)
	v.wantStock(t, 0, 10)
	if got := v.alice.orderNow(t, id).Reason; got != e.reason {
		t.Errorf("reason is %q, want %q", got, e.reason)
	}
	v.cook.press(t, id, "start").wantProblem(t, 409, "invalid_transition")
}

func orderFoundByKey(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 10))
	key := newKey()
	find := func(c client) []order {
		return into[list[order]](t, c.send(t, "GET", "/v1/orders?idempotency_key="+key, nil).want(t, 200)).Items
	}
	if found := find(v.alice); len(found) != 0 {
		t.Fatalf("found %v before there was an order", found)
	}
	id := into[order](t, v.alice.place(t, key, v.portions(0, 1)).want(t, 201)).ID
	v.placed(t, v.portions(0, 1))
	if found := find(v.alice); len(found) != 1 || found[0].ID != id {
		t.Errorf("found %v, want order %s", found, id)
	}
	if found := find(v.customer(t, newName("bob"))); len(found) != 0 {
		t.Errorf("somebody else found %v", found)
	}
}

func orderRoles(t *testing.T) {
	s := sharedSite(t)
	v, other := openVenue(t, s, counted("pelmeni", 10)), openVenue(t, s, counted("khinkali", 10))
	id := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	orderPath, ticketPath := "/v1/orders/"+id, "/v1/tickets/"+id
	stranger, nobody := s.customer(t, newName("mallory")), client{site: s}
	for _, c := range []struct {
		name         string
		who          client
		method, path string
		body         any
		status       int
		code         string
	}{
		{"staff elsewhere read the ticket", other.cook, "GET", ticketPath, nil, 404, "not_found"},
		{"staff elsewhere press a button", other.cook, "POST", ticketPath + "/advance", pressing("accept"), 404, "not_found"},
		{"staff elsewhere read the order", other.cook, "GET", orderPath, nil, 404, "not_found"},
		{"staff elsewhere report a status", other.cook, "POST", orderPath + "/status", map[string]string{"status": "accepted"}, 404, "not_found"},
		{"staff elsewhere change a dish", other.cook, "PATCH", "/v1/dishes/" + v.dishes[0].ID, map[string]int{"stock": 1}, 404, "not_found"},
		{"staff elsewhere close the place", other.cook, "PATCH", v.path(""), map[string]string{"state": "closed"}, 404, "not_found"},
		{"another customer reads the order", stranger, "GET", orderPath, nil, 404, "not_found"},
		{"another customer reads its events", stranger, "GET", orderPath + "/events", nil, 404, "not_found"},
		{"another customer cancels it", stranger, "POST", orderPath + "/cancel", nil, 404, "not_found"},
		{"its customer reads tickets", v.alice, "GET", "/v1/tickets", nil, 403, "forbidden"},
		{"its customer presses a button", v.alice, "POST", ticketPath + "/advance", pressing("accept"), 403, "forbidden"},
		{"its customer reports a status", v.alice, "POST", orderPath + "/status", map[string]string{"status": "accepted"}, 403, "forbidden"},
		{"staff order", v.cook, "POST", "/v1/orders", v.portions(0, 1), 403, "forbidden"},
		{"staff make a place", v.cook, "PUT", v.path(""), map[string]string{"name": "x", "timezone": "UTC", "currency": "RUB"}, 403, "forbidden"},
		{"nobody orders", nobody, "POST", "/v1/orders", v.portions(0, 1), 401, "unauthenticated"},
		{"nobody reads the order", nobody, "GET", orderPath, nil, 401, "unauthenticated"},
		{"nobody reads tickets", nobody, "GET", "/v1/tickets", nil, 401, "unauthenticated"},
		{"a forged token", client{site: s, token: v.alice.token + "x"}, "GET", orderPath, nil, 401, "unauthenticated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.who.send(t, c.method, c.path, c.body).wantProblem(t, c.status, c.code)
		})
	}
	v.wantHistory(t, id, "placed")
	v.wantStock(t, 0, 9)
}
