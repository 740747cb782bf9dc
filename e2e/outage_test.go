package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestBrokerOutage(t *testing.T) {
	keep(t,
		promise{"steps pressed meanwhile arrive in order when somebody presses again", outageStepsInOrder},
		promise{"a step pressed meanwhile is published once by pressing again", outagePressAgain},
		promise{"a step pressed meanwhile is published by the sweep if nobody presses again", outageSweep},
		promise{"a step that lost against kitchen is dropped", outageLostStep},
		promise{"steps that are ahead of kitchen's own word are kept", outageStepsAhead},
		promise{"orders are taken meanwhile and reach the board once", outageOrders},
	)
}

// newOutage has a ticket on the board, and no broker any more.
func newOutage(t *testing.T, more ...string) (v *venue, id string) {
	t.Helper()
	v = openVenue(t, brokerSite(t, more...), counted("pelmeni", 1000))
	id = v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	v.broker.kill(t)
	return v, id
}

// wantUnpublished presses a button that is stored but can't be told to kitchen.
func (v *venue) wantUnpublished(t *testing.T, id, action, status string) {
	t.Helper()
	p := v.cook.press(t, id, action).wantProblem(t, 502, "publish_failed")
	if p.Ticket == nil || p.Ticket.OrderID != id || p.Ticket.Status != status || p.Ticket.Published || !p.Retryable {
		t.Errorf("%s: retryable %v, ticket %+v, want %s and unpublished", action, p.Retryable, p.Ticket, status)
	}
	if now := v.cook.ticketNow(t, id); now.Status != status || now.Published {
		t.Errorf("%s: ticket is %s, published %v", action, now.Status, now.Published)
	}
}

func outageStepsInOrder(t *testing.T) {
	v, id := newOutage(t)
	v.wantUnpublished(t, id, "accept", "accepted")
	v.wantUnpublished(t, id, "start", "cooking")
	v.broker.restart(t)
	eventually(t, "published", func() bool { return v.cook.press(t, id, "start").status == 200 })
	v.awaitOrder(t, id, "cooking")
	v.settle(t)
	if now := v.cook.ticketNow(t, id); now.Status != "cooking" || !now.Published {
		t.Errorf("ticket %+v", now)
	}
	if events := v.alice.events(t, id); len(events) != 3 || events[1].To != "accepted" || events[2].To != "cooking" {
		t.Errorf("events %+v", events)
	}
}

func outagePressAgain(t *testing.T) {
	v, id := newOutage(t)
	v.wantUnpublished(t, id, "accept", "accepted")
	v.wantUnpublished(t, id, "accept", "accepted")
	v.wantHistory(t, id, "placed")
	v.broker.restart(t)
	eventually(t, "published", func() bool { return v.cook.press(t, id, "accept").status == 200 })
	v.awaitOrder(t, id, "accepted")
	v.settle(t)
	if events := v.alice.events(t, id); len(events) != 2 || *events[1].IdempotencyKey != id+":accepted" {
		t.Errorf("events %+v", events)
	}
}

func outageSweep(t *testing.T) {
	v, id := newOutage(t)
	v.wantUnpublished(t, id, "accept", "accepted")
	v.broker.restart(t)
	v.awaitOrder(t, id, "accepted")
	eventually(t, "ticket published", func() bool { return v.cook.ticketNow(t, id).Published })
}

// outageLostStep has kitchen accept an order over HTTP while the tablet, which can't know, rejects it.
func outageLostStep(t *testing.T) {
	v, id := newOutage(t)
	v.robot.report(t, "", id, "accepted").want(t, 200)
	v.wantUnpublished(t, id, "reject", "rejected")
	v.broker.restart(t)
	v.awaitTicketStatus(t, id, "accepted")
	v.settle(t)
	v.cook.press(t, id, "start").want(t, 200)
	v.awaitOrder(t, id, "cooking")
	v.awaitTicketStatus(t, id, "cooking")
	v.wantHistory(t, id, "placed accepted cooking")
	v.wantStock(t, 0, 999)
}

// outageStepsAhead has kitchen's own accepted reach a ticket whose steps, which go further, could not be sent: nobody
// presses again, so the sweep sends them.
func outageStepsAhead(t *testing.T) {
	v, id := newOutage(t)
	v.robot.report(t, "", id, "accepted").want(t, 200)
	v.wantUnpublished(t, id, "accept", "accepted")
	v.wantUnpublished(t, id, "start", "cooking")
	v.broker.restart(t)
	awaitTold(t, v, id, "accepted")
	if now := v.cook.ticketNow(t, id); now.Status != "cooking" {
		t.Fatalf("ticket %+v", now)
	}
	v.awaitOrder(t, id, "cooking")
	v.wantHistory(t, id, "placed accepted×2 cooking")
}

// awaitTold waits until establishment has read from kitchen that an order entered a status.
func awaitTold(t *testing.T, v *venue, id, status string) {
	t.Helper()
	bus := v.bus(t)
	bus.awaitWord(t, id, status)
	bus.settle(t, "establishment", ordersTopic)
}

// awaitWord waits until kitchen has told that an order entered a status, and returns that record.
func (b bus) awaitWord(t testing.TB, id, status string) *kgo.Record {
	t.Helper()
	var told []*kgo.Record
	eventually(t, "kitchen's word of "+status, func() bool {
		told = slices.DeleteFunc(b.all(t, ordersTopic), func(r *kgo.Record) bool {
			return string(r.Key) != id || !strings.Contains(string(r.Value), `"to":"`+status+`"`)
		})
		return len(told) > 0
	})
	return told[0]
}

func outageOrders(t *testing.T) {
	v, _ := newOutage(t)
	answers := make([]response, 100)
	together(len(answers), func(i int) { answers[i] = v.alice.place(t, newKey(), v.portions(0, 1)) })
	if n := count(answers); n[201] != 100 {
		t.Fatalf("answers %v, want 100 times 201", n)
	}
	v.broker.restart(t)
	v.settle(t)
	onBoard := map[string]int{}
	for _, ticket := range into[list[ticket]](t, v.cook.send(t, "GET", "/v1/tickets?limit=200", nil).want(t, 200)).Items {
		onBoard[ticket.OrderID]++
	}
	for _, answer := range answers {
		if id := into[order](t, answer).ID; onBoard[id] != 1 {
			t.Errorf("order %s is %d times on the board", id, onBoard[id])
		}
	}
}
