package e2e

import (
	"syscall"
	"testing"
	"time"
)

// stopPromise bounds the end of a process whatever its broker does. It is 15 s for the process, and the rest for a
// loaded machine.
const stopPromise = 20 * time.Second

func TestSilentBroker(t *testing.T) {
	keep(t,
		promise{"orders are taken while the broker doesn't answer, and reach the board once", frozenOrders},
		promise{"a press fails while the broker doesn't answer, and succeeds at once when it does", frozenPress},
		promise{"the first press after an outage succeeds", firstPressAfterOutage},
		promise{"a process stops while its broker doesn't answer, and finishes its work after the next start", frozenStop},
		promise{"a process stops while its broker is gone, and finishes its work after the next start", goneStop},
	)
}

// patientSite has the broker in a process of its own, and leaves the sending of steps to those who press for as long as it may.
func patientSite(t testing.TB) *site {
	t.Helper()
	s := onBroker(t)
	s.inOne(start(t, s.serve("--republish-after", "7s")...))
	t.Cleanup(func() {
		s.thaw()
		s.settle(t)
	})
	return s
}

// freeze keeps the broker from answering anything, while its connections stay open.
func (s *site) freeze() { _ = s.broker.cmd.Process.Signal(syscall.SIGSTOP) }

// thaw lets a frozen broker go on. It does nothing to one that isn't frozen or has ended.
func (s *site) thaw() { _ = s.broker.cmd.Process.Signal(syscall.SIGCONT) }

// newSilence has an order on the board whose broker will fall silent.
func newSilence(t *testing.T) (v *venue, id string) {
	t.Helper()
	v = openVenue(t, patientSite(t), counted("pelmeni", 1000))
	id = v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	return v, id
}

// placeMany places orders at once, all of which must be taken, and returns their ids.
func (v *venue) placeMany(t *testing.T, n int) []string {
	t.Helper()
	answers, ids := make([]response, n), make([]string, n)
	together(n, func(i int) { answers[i] = v.alice.place(t, newKey(), v.portions(0, 1)) })
	for i, answer := range answers {
		ids[i] = into[order](t, answer.want(t, 201)).ID
	}
	return ids
}

// wantOnBoard fails the test unless the board has the orders and the one that was there before, and each once.
func (v *venue) wantOnBoard(t *testing.T, before string, ids []string) {
	t.Helper()
	for _, id := range ids {
		v.awaitTicket(t, id)
		v.wantHistory(t, id, "placed")
	}
	if listed := into[list[ticket]](t, v.cook.send(t, "GET", "/v1/tickets?limit=200", nil).want(t, 200)).Items; len(listed) != len(ids)+1 {
		t.Errorf("%d tickets on the board, want %d and %s", len(listed), len(ids), before)
	}
	v.wantStock(t, 0, int64(1000-1-len(ids)))
}

func frozenOrders(t *testing.T) {
	v, before := newSilence(t)
	v.freeze()
	ids := v.placeMany(t, 100)
	v.thaw()
	v.wantOnBoard(t, before, ids)
}

func frozenPress(t *testing.T) {
	v, id := newSilence(t)
	v.freeze()
	v.wantUnpublished(t, id, "accept", "accepted")
	v.wantUnpublished(t, id, "accept", "accepted")
	v.wantHistory(t, id, "placed")
	v.thaw()
	eventually(t, "published", func() bool { return v.cook.press(t, id, "accept").status == 200 })
	v.wantAccepted(t, id)
}

func firstPressAfterOutage(t *testing.T) {
	v, id := newSilence(t)
	v.broker.stop(t)
	v.wantUnpublished(t, id, "accept", "accepted")
	v.wantUnpublished(t, id, "accept", "accepted")
	v.broker.restart(t)
	v.cook.press(t, id, "accept").want(t, 200)
	v.wantAccepted(t, id)
}

// wantAccepted wants one event of kitchen for all presses.
func (v *venue) wantAccepted(t *testing.T, id string) {
	t.Helper()
	v.awaitOrder(t, id, "accepted")
	v.settle(t)
	if events := v.alice.events(t, id); len(events) != 2 || events[1].To != "accepted" || *events[1].IdempotencyKey != id+":accepted" {
		t.Errorf("events %+v", events)
	}
	if now := v.cook.ticketNow(t, id); now.Status != "accepted" || !now.Published {
		t.Errorf("ticket %+v", now)
	}
}

func frozenStop(t *testing.T) {
	v, before := newSilence(t)
	v.freeze()
	ids := v.stopWithWork(t, before)
	v.thaw()
	v.finishWork(t, before, ids)
}

func goneStop(t *testing.T) {
	v, before := newSilence(t)
	v.broker.kill(t)
	ids := v.stopWithWork(t, before)
	v.broker.restart(t)
	v.finishWork(t, before, ids)
}

// stopWithWork stops the services while orders and a step wait for the broker, and a press is on its way.
func (v *venue) stopWithWork(t *testing.T, pressed string) []string {
	t.Helper()
	ids := v.placeMany(t, 20)
	v.wantUnpublished(t, pressed, "accept", "accepted")
	begin := time.Now()
	v.kitchen.stop(t)
	if took := time.Since(begin); took > stopPromise {
		t.Errorf("stopping took %v", took)
	}
	return ids
}

func (v *venue) finishWork(t *testing.T, pressed string, ids []string) {
	t.Helper()
	v.kitchen.restart(t)
	v.wantOnBoard(t, pressed, ids)
	v.cook.press(t, pressed, "accept").want(t, 200)
	v.wantAccepted(t, pressed)
}
