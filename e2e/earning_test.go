package e2e

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestEarning: what completed orders earn.
func TestEarning(t *testing.T) {
	keep(t,
		promise{"a completed order that is told five times, and again after a restart, is one bonus per campaign", earningToldAgain},
		promise{"an order of two lines is one bonus", earningTwoLines},
		promise{"the terms of the time of placing count", earningTermsOfPlacing},
		promise{"a share is rounded down to whole units, and nothing is no bonus", earningShare},
		promise{"a window ends at midnight of its time zone", earningWindow},
		promise{"minimum, cap and place are kept", earningLimits},
		promise{"an order that isn't completed earns nothing", earningNotCompleted},
		promise{"a bonus that was asked for before its order was completed stands", earningStands},
		promise{"an order record that can't be read is a dead letter of bonus, and the next ones count", earningPoison},
	)
}

func earningToldAgain(t *testing.T) {
	v := openVenue(t, brokerSite(t), counted("pelmeni", 100))
	share, thanks := v.offer(t, nil), v.offer(t, fixed(7))
	id := v.completed(t, v.portions(0, 1))
	want := map[string]int64{share.ID: 22, thanks.ID: 7}
	if diff := cmp.Diff(want, v.earned(t, id)); diff != "" {
		t.Fatalf("earned (-want +got):\n%s", diff)
	}
	word := v.bus(t).awaitWord(t, id, "completed")
	v.tellAgain(t, word, 5)
	v.kitchen.stop(t) // and not killed, which could tell the bonuses again
	v.tellAgain(t, word, 1)
	v.kitchen.restart(t)
	v.tellAgain(t, word, 1)
	v.bus(t).settle(t, "bonus", ordersTopic)
	entries := v.alice.entries(t)
	if balance := v.alice.wallet(t).Balance; balance != 29 || len(entries) != 2 {
		t.Errorf("balance %d, entries %v", balance, entries)
	}
	v.kitchen.stop(t) // all is told now
	v.bus(t).wantTold(t, id, accrualsOf(entries)...)
	v.kitchen.restart(t)
}

// tellAgain produces a record again as it is.
func (s *site) tellAgain(t *testing.T, word *kgo.Record, times int) {
	t.Helper()
	for range times {
		s.bus(t).send(t, &kgo.Record{Topic: word.Topic, Key: word.Key, Value: word.Value, Headers: word.Headers})
	}
}

func accrualsOf(entries []walletEntry) (ids []string) {
	for _, e := range entries {
		ids = append(ids, e.AccrualID)
	}
	return ids
}

func earningTwoLines(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100), uncounted("kompot"))
	share, thanks := v.offer(t, nil), v.offer(t, fixed(7))
	id := v.completed(t, v.order(orderLine{v.dishes[0].ID, 2}, orderLine{v.dishes[1].ID, 3}))
	v.wantEarned(t, id, share, 58) // of 1170.00
	v.wantEarned(t, id, thanks, 7)
	seen := map[string]bool{}
	for _, e := range v.alice.entries(t) {
		if seen[e.CampaignID] {
			t.Errorf("two entries of campaign %s", e.CampaignID)
		}
		seen[e.CampaignID] = true
	}
}

func earningTermsOfPlacing(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	changed, ended, moved := v.offer(t, nil), v.offer(t, nil), v.offer(t, nil)
	early := v.placed(t, v.portions(0, 1)).ID
	v.chief.change(t, changed.ID, terms{"value": 100}).want(t, 200)
	v.chief.change(t, ended.ID, terms{"active": false}).want(t, 200)
	v.chief.change(t, moved.ID, terms{"starts_at": "2999-01-01"}).want(t, 200)
	late := v.offer(t, nil)
	v.complete(t, early)
	for _, c := range []campaign{changed, ended, moved} {
		v.wantEarned(t, early, c, 22)
	}
	v.wantEarned(t, early, late, 0)
	next := v.completed(t, v.portions(0, 1))
	v.wantEarned(t, next, changed, 4)
	v.wantEarned(t, next, ended, 0)
	v.wantEarned(t, next, moved, 0)
	v.wantEarned(t, next, late, 22)
}

func earningShare(t *testing.T) {
	for price, want := range map[int64]int64{450_00: 22, 19_99: 0, 20_00: 1, 99_999_999_999: 49_999_999} {
		t.Run(fmt.Sprint(price), func(t *testing.T) {
			t.Parallel()
			v := openVenue(t, sharedSite(t), menuDish{ExternalID: "x", Name: "x", Price: rub(price)})
			share := v.offer(t, nil)
			v.wantEarned(t, v.completed(t, v.portions(0, 1)), share, want)
		})
	}
}

// earningWindow has kitchen's word of orders that were placed at the end of a window of a far future, for bonus alone. The
// orders exist and are completed later, as word of an order that nobody knows would be a violation.
func earningWindow(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	until := v.offer(t, terms{"timezone": "Asia/Kolkata", "ends_at": "2999-04-01"})
	from := v.offer(t, terms{"timezone": "Asia/Kolkata", "starts_at": "2999-04-01T00:00:00"})
	for _, c := range []struct {
		placedAt    string
		until, from int64
	}{
		{"2999-03-31T23:59:59+05:30", 22, 0},
		{"2999-03-31T18:29:59.999999Z", 22, 0},
		{"2999-04-01T00:00:00+05:30", 0, 22},
		{"2999-03-31T18:30:00Z", 0, 22},
	} {
		id := v.placed(t, v.portions(0, 1)).ID
		v.tellBonus(t, id, "completed", c.placedAt)
		v.wantEarned(t, id, until, c.until)
		v.wantEarned(t, id, from, c.from)
		v.complete(t, id)
		v.wantEarned(t, id, until, c.until)
	}
}

// tellBonus tells bonus alone that an order of one portion entered a status: others skip what isn't sent again for them.
func (v *venue) tellBonus(t *testing.T, id, status, placedAt string) *kgo.Record {
	t.Helper()
	return v.bus(t).send(t, &kgo.Record{
		Topic: ordersTopic, Key: []byte(id),
		Headers: []kgo.RecordHeader{withHeader("ce_type", "order.status_changed.v1"), withHeader("x-dlq-redrive-group", "bonus")},
		Value: encode(map[string]any{
			"order_id": id, "establishment_id": v.id, "user_id": v.alice.subject, "seq": 5, "from": "ready", "to": status,
			"total": rub(450_00), "placed_at": placedAt, "at": placedAt,
		}),
	})
}

func earningLimits(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	elsewhere := openVenue(t, v.site, counted("khinkali", 100))
	minimum, capped, other := v.offer(t, terms{"min_order": 900_00}), v.offer(t, terms{"cap_per_order": 30}), elsewhere.offer(t, nil)
	one, two := v.completed(t, v.portions(0, 1)), v.completed(t, v.portions(0, 2))
	v.wantEarned(t, one, minimum, 0)
	v.wantEarned(t, two, minimum, 45)
	v.wantEarned(t, one, capped, 22)
	v.wantEarned(t, two, capped, 30)
	v.wantEarned(t, two, other, 0)
}

func earningNotCompleted(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	v.offer(t, nil)
	rejected, cancelled, cooking := v.placed(t, v.portions(0, 1)).ID, v.placed(t, v.portions(0, 1)).ID, v.placed(t, v.portions(0, 1)).ID
	v.alice.cancel(t, cancelled).want(t, 200)
	v.awaitTicket(t, rejected)
	v.cook.press(t, rejected, "reject").want(t, 200)
	v.awaitTicket(t, cooking)
	v.cook.press(t, cooking, "accept").want(t, 200)
	v.cook.press(t, cooking, "start").want(t, 200)
	v.awaitOrder(t, cooking, "cooking")
	for id, status := range map[string]string{rejected: "rejected", cancelled: "cancelled", cooking: "cooking"} {
		v.awaitOrder(t, id, status)
		v.bus(t).awaitWord(t, id, status)
	}
	v.bus(t).settle(t, "bonus", ordersTopic)
	if entries := v.alice.entries(t); len(entries) != 0 || v.alice.wallet(t).Balance != 0 {
		t.Errorf("entries %v", entries)
	}
}

func earningStands(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	share := v.offer(t, nil)
	id := v.placed(t, v.portions(0, 1)).ID
	request := bonusRequest{UserID: v.alice.subject, CampaignID: share.ID, OrderID: id, Points: 5}
	v.robot.accrue(t, newKey(), request).want(t, 201)
	v.complete(t, id)
	// The points by demo data show that the order was evaluated.
	eventually(t, "points of the order", func() bool { return len(v.earned(t, id)) > 1 })
	v.wantEarned(t, id, share, 5)
}

func earningPoison(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	share := v.offer(t, nil)
	id := v.placed(t, v.portions(0, 1)).ID
	b := v.bus(t)
	sent := []*kgo.Record{
		b.send(t, poison(ordersTopic, id, withHeader("ce_type", "order.status_changed.v1"))),
		b.send(t, poison(ordersTopic, id, withHeader("ce_type", "order.status_changed.v9"))),
		b.send(t, poison(ordersTopic, id)),
	}
	b.send(t, poison(ordersTopic, id, withHeader("ce_type", "weather.changed.v1")))
	v.tellBonus(t, id, "eaten", "2026-01-01T00:00:00Z")
	b.wantBuried(t, bonusReader, "invalid_request", sent...)
	b.wantBuried(t, boardReader, "invalid_request", sent...)
	sent = append(sent, v.tellBonus(t, id, "completed", "0001-01-01T00:00:00Z"))
	b.settle(t, "bonus", ordersTopic)
	v.wantSaved(t, bonusReader, "invalid_request", sent...)
	v.complete(t, id)
	v.wantEarned(t, id, share, 22)
}
