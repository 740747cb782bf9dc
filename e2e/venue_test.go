package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// venue is an establishment of one test, and the people around it.
type venue struct {
	*site
	id     string
	dishes []dish // in the order of the menu
	chief  client // operator
	cook   client // staff
	alice  client // a customer who orders nowhere else
	robot  client // service
}

// openVenue makes an establishment with a menu.
func openVenue(t testing.TB, s *site, menu ...menuDish) *venue {
	t.Helper()
	v := &venue{site: s, id: uuid.NewString(), chief: s.operator(t), robot: s.service(t), alice: s.customer(t, newName("alice"))}
	v.cook = s.staff(t, v.id)
	v.chief.send(t, "PUT", v.path(""), map[string]any{"name": t.Name(), "timezone": "Europe/Moscow", "currency": "RUB"}).want(t, 201)
	answer := v.cook.send(t, "PUT", v.path("/menu"), map[string]any{"dishes": menu}).want(t, 200)
	v.dishes = into[list[dish]](t, answer).Items
	if len(v.dishes) != len(menu) {
		t.Fatalf("menu has %d dishes, want %d", len(v.dishes), len(menu))
	}
	return v
}

// acceptWithin gives staff so many seconds to accept the orders that come from now on.
func (v *venue) acceptWithin(t testing.TB, seconds int) {
	t.Helper()
	v.chief.send(t, "PATCH", v.path(""), map[string]any{"accept_timeout_seconds": seconds}).want(t, 200)
}

func (v *venue) path(rest string) string { return "/v1/establishments/" + v.id + rest }

// portions asks for so many portions of one dish, by its place in the menu.
func (v *venue) portions(dish int, quantity int64) orderRequest {
	return v.order(orderLine{v.dishes[dish].ID, quantity})
}

func (v *venue) order(lines ...orderLine) orderRequest {
	return orderRequest{EstablishmentID: v.id, Lines: lines}
}

// stock is what is left of a dish.
func (v *venue) stock(t testing.TB, i int) int64 {
	t.Helper()
	menu := into[list[dish]](t, v.alice.send(t, "GET", v.path("/menu"), nil).want(t, 200)).Items
	if menu[i].Stock == nil {
		t.Fatalf("portions of %s are not counted", menu[i].Name)
	}
	return *menu[i].Stock
}

func (v *venue) wantStock(t testing.TB, i int, want int64) {
	t.Helper()
	if got := v.stock(t, i); got != want {
		t.Errorf("stock of %s is %d, want %d", v.dishes[i].Name, got, want)
	}
}

// place places an order, under a key unless it is "".
func (c client) place(t testing.TB, key string, body any) response {
	t.Helper()
	return c.send(t, "POST", "/v1/orders", body, keyed(key)...)
}

// placed is a new order of the venue's customer.
func (v *venue) placed(t testing.TB, body orderRequest) order {
	t.Helper()
	return into[order](t, v.alice.place(t, "", body).want(t, 201))
}

func (c client) cancel(t testing.TB, id string) response {
	t.Helper()
	return c.send(t, "POST", "/v1/orders/"+id+"/cancel", nil)
}

// report is the callback of an establishment over HTTP.
func (c client) report(t testing.TB, key, id, status string) response {
	t.Helper()
	return c.send(t, "POST", "/v1/orders/"+id+"/status", map[string]string{"status": status}, keyed(key)...)
}

// press presses a button of the board.
func (c client) press(t testing.TB, id, action string) response {
	t.Helper()
	return c.send(t, "POST", "/v1/tickets/"+id+"/advance", pressing(action))
}

func pressing(action string) map[string]string {
	body := map[string]string{"action": action}
	if action == "reject" || action == "cancel" {
		body["reason"] = "out of gas"
	}
	return body
}

func keyed(key string) []string {
	if key == "" {
		return nil
	}
	return []string{"Idempotency-Key", key}
}

// orders lists what the customer has ordered, up to 200.
func (c client) orders(t testing.TB) []order {
	t.Helper()
	return into[list[order]](t, c.send(t, "GET", "/v1/orders?limit=200", nil).want(t, 200)).Items
}

func (c client) orderNow(t testing.TB, id string) order {
	t.Helper()
	return into[order](t, c.send(t, "GET", "/v1/orders/"+id, nil).want(t, 200))
}

func (c client) events(t testing.TB, id string) []event {
	t.Helper()
	return into[list[event]](t, c.send(t, "GET", "/v1/orders/"+id+"/events", nil).want(t, 200)).Items
}

func (c client) ticketNow(t testing.TB, id string) ticket {
	t.Helper()
	return into[ticket](t, c.send(t, "GET", "/v1/tickets/"+id, nil).want(t, 200))
}

// awaitTicket waits until the order is on the board.
func (v *venue) awaitTicket(t testing.TB, id string) ticket {
	t.Helper()
	eventually(t, "ticket on the board", func() bool {
		return v.cook.send(t, "GET", "/v1/tickets/"+id, nil).status == 200
	})
	return v.cook.ticketNow(t, id)
}

// awaitOrder waits until kitchen has the order in a status.
func (v *venue) awaitOrder(t testing.TB, id, status string) {
	t.Helper()
	eventually(t, "order "+status, func() bool { return v.alice.orderNow(t, id).Status == status })
}

// awaitTicketStatus waits until the board has the order in a status.
func (v *venue) awaitTicketStatus(t testing.TB, id, status string) {
	t.Helper()
	eventually(t, "ticket "+status, func() bool { return v.cook.ticketNow(t, id).Status == status })
}

// history is the path of an order: its statuses, with the number of deliveries of those that came more than once.
func (v *venue) history(t testing.TB, id string) string {
	t.Helper()
	var path []string
	for _, e := range v.alice.events(t, id) {
		step := e.To
		if e.Deliveries != 1 {
			step += fmt.Sprintf("×%d", e.Deliveries)
		}
		path = append(path, step)
	}
	return strings.Join(path, " ")
}

func (v *venue) wantHistory(t testing.TB, id, want string) {
	t.Helper()
	if got := v.history(t, id); got != want {
		t.Errorf("history is %q, want %q", got, want)
	}
}

func newKey() string { return uuid.NewString() }

func newName(prefix string) string { return prefix + "-" + uuid.NewString()[:8] }
