package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	demoShare  = "01980000-0000-7000-8000-000009000001" // 5 %
	demoThanks = "01980000-0000-7000-8000-000009000002" // 10 points for every order
)

// TestLoyalty goes the whole way from a tap to the points for it, while everybody repeats themselves and every kind of
// answer gets lost. What was meant once happens once.
func TestLoyalty(t *testing.T) {
	t.Parallel()
	v := openVenue(t, soloSite(t, "--kafka-addr", "127.0.0.1:0"), counted("pelmeni", 100))
	id := v.tapTwice(t)
	v.awaitTicket(t, id)
	for i, b := range buttons {
		v.pressAndRepeat(t, id, b.action, b.status)
		if b.status == "cooking" {
			v.kitchen.kill(t)
			v.kitchen.restart(t)
		}
		v.bus(t).report(t, v, id+":"+buttons[i].status, id, buttons[i].status) // the broker delivers it again
	}
	v.awaitOrder(t, id, "completed")
	v.wantPoints(t, id)
	v.tellAgain(t, v.bus(t).awaitWord(t, id, "completed"), 3)
	v.kitchen.stop(t)
	v.kitchen.restart(t)
	v.tellAgain(t, v.bus(t).awaitWord(t, id, "completed"), 1)
	v.bus(t).settle(t, "bonus", ordersTopic)
	v.settle(t)

	entries := v.wantPoints(t, id)
	if diff := cmp.Diff(entries, pages[walletEntry](t, v.chief, "/v1/wallet/entries?user_id="+v.alice.subject, 1)); diff != "" {
		t.Errorf("entries page by page, as an operator reads them (-whole +pages):\n%s", diff)
	}
	v.wantAskedInVain(t, id, entries[0])
	v.bus(t).wantTold(t, id, accrualsOf(entries)...)
	v.wantStock(t, 0, 98)
	if orders := v.alice.orders(t); len(orders) != 1 {
		t.Errorf("%d orders", len(orders))
	}
	for _, e := range v.alice.events(t, id)[1:] {
		if e.Deliveries < 2 {
			t.Errorf("%s was delivered %d times, want at least 2", e.To, e.Deliveries)
		}
	}
}

// tapTwice orders two portions by a client that hangs up and asks twice at once then, under one key.
func (v *venue) tapTwice(t *testing.T) (id string) {
	t.Helper()
	key, answers := newKey(), make([]response, 2)
	conn := v.alice.dial(t)
	_, _ = conn.Write(v.alice.rawOrder(v.portions(0, 2), "Idempotency-Key: "+key))
	conn.Close()
	together(len(answers), func(i int) { answers[i] = v.alice.place(t, key, v.portions(0, 2)) })
	first, second := into[order](t, answers[0]), into[order](t, answers[1])
	if first.ID == "" || first.ID != second.ID || count(answers)[201] > 1 {
		t.Fatalf("two taps became %+v and %+v", first, second)
	}
	return first.ID
}

// pressAndRepeat presses a button, loses the answer, and presses again until it is clear what became of it, and once more.
func (v *venue) pressAndRepeat(t *testing.T, id, action, status string) {
	t.Helper()
	conn := v.cook.dial(t)
	_, _ = conn.Write(v.cook.rawPost("/v1/tickets/"+id+"/advance", pressing(action)))
	conn.Close()
	for range 2 {
		if now := into[ticket](t, v.cook.press(t, id, action).want(t, 200)); now.Status != status || !now.Published {
			t.Errorf("%s: ticket %+v", action, now)
		}
	}
	v.awaitOrder(t, id, status)
}

// wantPoints waits for the points of the order of 900.00, and wants them once, by each campaign of the demo data.
func (v *venue) wantPoints(t *testing.T, id string) []walletEntry {
	t.Helper()
	if diff := cmp.Diff(map[string]int64{demoShare: 45, demoThanks: 10}, v.earned(t, id)); diff != "" {
		t.Errorf("earned (-want +got):\n%s", diff)
	}
	entries := v.alice.entries(t)
	for _, e := range entries {
		if e.OrderID != id || e.Origin != "event" || e.CreatedAt.IsZero() {
			t.Errorf("entry %+v", e)
		}
	}
	if now := v.alice.wallet(t); now != (wallet{v.alice.subject, 55}) || len(entries) != 2 {
		t.Errorf("wallet %+v with %d entries", now, len(entries))
	}
	return entries
}

// wantAskedInVain has a client ask for what the order earned.
func (v *venue) wantAskedInVain(t *testing.T, id string, e walletEntry) {
	t.Helper()
	request := bonusRequest{UserID: v.alice.subject, CampaignID: e.CampaignID, OrderID: id, Points: e.Amount}
	if existing := into[bonus](t, v.robot.accrue(t, newKey(), request).want(t, 200)); existing.ID != e.AccrualID || existing.Origin != "event" {
		t.Errorf("bonus %+v, want that of %+v", existing, e)
	}
	request.Points++
	v.robot.accrue(t, newKey(), request).wantProblem(t, 422, "accrual_conflict")
}
