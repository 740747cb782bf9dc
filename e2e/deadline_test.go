package e2e

import (
	"testing"
	"time"
)

func TestAcceptDeadline(t *testing.T) {
	keep(t,
		promise{"an order that nobody accepts is rejected", deadlinePasses},
		promise{"an order is rejected although the server was stopped across its deadline", deadlineStopped},
		promise{"an order is rejected although the server was killed before its deadline", deadlineKilled},
		promise{"an accept in time counts although kitchen was down across the deadline", deadlineKitchenDown},
		promise{"an accept in time counts although the broker was away across the deadline", deadlineBrokerAway},
	)
}

// awaitDeadline waits for a moment that the product chose.
func awaitDeadline(t *testing.T, o order) {
	t.Helper()
	eventually(t, "the accept deadline", func() bool { return time.Now().After(o.AcceptDeadline) })
}

// wantTimedOut checks that an order of 7 portions out of 100 was rejected, once, and everybody learnt it.
func wantTimedOut(t *testing.T, v *venue, id string) {
	t.Helper()
	v.awaitOrder(t, id, "rejected")
	eventually(t, "ticket on the board", func() bool { return v.cook.send(t, "GET", "/v1/tickets/"+id, nil).status == 200 })
	v.awaitTicketStatus(t, id, "rejected")
	v.wantStock(t, 0, 100)
	v.wantHistory(t, id, "placed rejected")
	end := v.alice.events(t, id)[1]
	if end.Reason != "accept_timeout" || end.Actor != "system:accept_timeout" {
		t.Errorf("rejected by %s for %q", end.Actor, end.Reason)
	}
	if now := v.cook.ticketNow(t, id); now.Reason != "accept_timeout" {
		t.Errorf("reason of the ticket is %q", now.Reason)
	}
	v.cook.press(t, id, "accept").wantProblem(t, 409, "invalid_transition")
}

func deadlinePasses(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	v.acceptWithin(t, 1)
	wantTimedOut(t, v, v.placed(t, v.portions(0, 7)).ID)
}

func deadlineStopped(t *testing.T) {
	v := openVenue(t, soloSite(t), counted("pelmeni", 100))
	v.acceptWithin(t, 1)
	placed := v.placed(t, v.portions(0, 7))
	v.kitchen.stop(t)
	awaitDeadline(t, placed)
	v.kitchen.restart(t)
	wantTimedOut(t, v, placed.ID)
}

func deadlineKilled(t *testing.T) {
	v := openVenue(t, soloSite(t), counted("pelmeni", 100))
	v.acceptWithin(t, 1)
	placed := v.placed(t, v.portions(0, 7))
	v.kitchen.kill(t)
	awaitDeadline(t, placed)
	v.kitchen.restart(t)
	wantTimedOut(t, v, placed.ID)
}

func deadlineKitchenDown(t *testing.T) {
	s := splitSite(t)
	v := openVenue(t, s, counted("pelmeni", 100))
	v.acceptWithin(t, 5)
	placed := v.placed(t, v.portions(0, 7))
	v.awaitTicket(t, placed.ID)
	s.kitchen.stop(t)
	v.cook.press(t, placed.ID, "accept").want(t, 200)
	awaitDeadline(t, placed)
	s.kitchen.restart(t)
	wantAccepted(t, v, placed.ID)
}

func deadlineBrokerAway(t *testing.T) {
	v := openVenue(t, brokerSite(t), counted("pelmeni", 100))
	v.acceptWithin(t, 5)
	placed := v.placed(t, v.portions(0, 7))
	v.awaitTicket(t, placed.ID)
	v.broker.kill(t)
	v.wantUnpublished(t, placed.ID, "accept", "accepted")
	awaitDeadline(t, placed)
	v.broker.restart(t)
	wantAccepted(t, v, placed.ID)
}

func wantAccepted(t *testing.T, v *venue, id string) {
	t.Helper()
	v.awaitOrder(t, id, "accepted")
	v.settle(t)
	v.wantHistory(t, id, "placed accepted")
	v.awaitTicketStatus(t, id, "accepted")
	v.wantStock(t, 0, 93)
}
