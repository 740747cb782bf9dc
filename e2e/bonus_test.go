package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestBonus(t *testing.T) {
	keep(t,
		promise{"50 requests under one key while the first is held up: one accrues, the others wait their turn outside", bonusHeldUp},
		promise{"two keys for the same user, campaign and order are one bonus", bonusTwoKeys},
		promise{"without a key a bonus is one all the same", bonusWithoutKey},
		promise{"a bonus of a campaign that nobody knows is pointed at", bonusUnknownCampaign},
		promise{"a completed order that is told five times, and again after a restart, is one bonus per campaign", bonusToldAgain},
		promise{"an order of two lines is one bonus", bonusTwoLines},
		promise{"the terms of the time of placing count", bonusTermsOfPlacing},
		promise{"a share is rounded down to whole units, and nothing is no bonus", bonusShare},
		promise{"a window ends at midnight of its time zone", bonusWindow},
		promise{"minimum, cap and place are kept", bonusLimits},
		promise{"an order that isn't completed earns nothing", bonusNotCompleted},
		promise{"a bonus that was asked for before its order was completed stands", bonusStands},
		promise{"a process killed before a bonus is told tells it once", bonusKilledBeforeTelling},
		promise{"an order record that can't be read is a dead letter of bonus, and the next ones count", bonusPoison},
		promise{"who may do what", bonusRoles},
		promise{"points, users and ids are read strictly", bonusInput},
	)
}

// holdWrites keeps a service from writing to its database until it is released, as another program could.
func (s *site) holdWrites(t *testing.T, service string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(s.data, service+".db")+"?_pragma=busy_timeout(30000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
}

func bonusHeldUp(t *testing.T) {
	s := soloSite(t)
	v := openVenue(t, s, counted("pelmeni", 100))
	key, request := newKey(), v.offer(t, nil).request(22)
	release := s.holdWrites(t, "bonus")
	answers := make(chan response, 50)
	for range cap(answers) {
		go func() { answers <- v.robot.accrue(t, key, request) }()
	}
	for range cap(answers) - 1 {
		wantInProgress(t, <-answers)
	}
	more := request
	more.Points++
	wantInProgress(t, v.robot.accrue(t, key, more))         // whatever the body
	wantInProgress(t, v.robot.accrue(t, newKey(), request)) // by its meaning
	wantInProgress(t, v.chief.accrue(t, "", request))
	release()
	first := <-answers
	first.want(t, 201)
	repeats := make([]response, 50)
	together(len(repeats), func(i int) { repeats[i] = v.robot.accrue(t, key, request) })
	for _, repeat := range repeats {
		wantSameAnswer(t, first, repeat)
	}
	v.chief.wantOneEntry(t, into[bonus](t, first))
}

func wantInProgress(t *testing.T, r response) {
	t.Helper()
	if p := r.wantProblem(t, 409, "request_in_progress"); !p.Retryable || r.header.Get("Retry-After") != "1" {
		t.Errorf("retryable %v, Retry-After %q", p.Retryable, r.header.Get("Retry-After"))
	}
}

// wantSameAnswer fails the test unless the repeat was answered as the first, byte for byte, and says so.
func wantSameAnswer(t *testing.T, first, repeat response) {
	t.Helper()
	if repeat.status != first.status || string(repeat.body) != string(first.body) || repeat.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("answer %d, replayed %q: %s\nwant %d: %s", repeat.status, repeat.header.Get("Idempotent-Replayed"), repeat.body, first.status, first.body)
	}
}

func bonusTwoKeys(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	one, two, request := newKey(), newKey(), v.offer(t, nil).request(22)
	first := v.robot.accrue(t, one, request).want(t, 201)
	made := into[bonus](t, first)
	want := bonus{
		ID: made.ID, UserID: request.UserID, CampaignID: request.CampaignID, OrderID: request.OrderID, Points: 22, Origin: "api",
		CreatedAt: made.CreatedAt,
	}
	if diff := cmp.Diff(want, made); diff != "" || first.header.Get("Idempotent-Replayed") != "" || first.header.Get("Location") != "" {
		t.Errorf("headers %v (-want +got):\n%s", first.header, diff)
	}
	second := v.robot.accrue(t, two, request).want(t, 200)
	if string(second.body) != string(first.body) || second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("replayed %q: %s, want %s", second.header.Get("Idempotent-Replayed"), second.body, first.body)
	}
	more := request
	more.Points = 23
	v.robot.accrue(t, newKey(), more).wantProblem(t, 422, "accrual_conflict")
	v.robot.accrue(t, two, more).wantProblem(t, 422, "idempotency_key_reused")
	wantSameAnswer(t, first, v.robot.accrue(t, one, request))
	wantSameAnswer(t, second, v.robot.accrue(t, two, request))
	v.chief.wantOneEntry(t, made)
}

func bonusWithoutKey(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	request := v.offer(t, nil).request(22)
	made := into[bonus](t, v.robot.accrue(t, "", request).want(t, 201))
	if again := into[bonus](t, v.chief.accrue(t, "", request).want(t, 200)); again != made {
		t.Errorf("%+v, want %+v", again, made)
	}
	v.chief.wantOneEntry(t, made)
	v.bus(t).wantTold(t, request.OrderID, made.ID)
}

func bonusUnknownCampaign(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	request := campaign{ID: uuid.NewString()}.request(22)
	p := v.robot.accrue(t, "", request).wantProblem(t, 400, "invalid_request")
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/campaign_id" {
		t.Errorf("errors %v", p.Errors)
	}
	if entries := v.chief.entriesOf(t, request.UserID); len(entries) != 0 {
		t.Errorf("entries %v", entries)
	}
}

func bonusToldAgain(t *testing.T) {
	v := openVenue(t, brokerSite(t), counted("pelmeni", 100))
	share, thanks := v.offer(t, nil), v.offer(t, fixed(7))
	id := v.completed(t, v.portions(0, 1))
	want := map[string]int64{share.ID: 22, thanks.ID: 7}
	if diff := cmp.Diff(want, v.earned(t, id)); diff != "" {
		t.Fatalf("earned (-want +got):\n%s", diff)
	}
	word := v.bus(t).awaitWord(t, id, "completed")
	v.tellAgain(t, word, 5)
	v.kitchen.kill(t)
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

func bonusTwoLines(t *testing.T) {
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

func bonusTermsOfPlacing(t *testing.T) {
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

func bonusShare(t *testing.T) {
	for price, want := range map[int64]int64{450_00: 22, 19_99: 0, 20_00: 1, 99_999_999_999: 49_999_999} {
		t.Run(fmt.Sprint(price), func(t *testing.T) {
			t.Parallel()
			v := openVenue(t, sharedSite(t), menuDish{ExternalID: "x", Name: "x", Price: rub(price)})
			share := v.offer(t, nil)
			v.wantEarned(t, v.completed(t, v.portions(0, 1)), share, want)
		})
	}
}

// bonusWindow has kitchen's word of orders that were placed at the end of a window of a far future, for bonus alone. The
// orders exist and are completed later, as word of an order that nobody knows would be a violation.
func bonusWindow(t *testing.T) {
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

func bonusLimits(t *testing.T) {
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

func bonusNotCompleted(t *testing.T) {
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

func bonusStands(t *testing.T) {
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

func bonusKilledBeforeTelling(t *testing.T) {
	v := openVenue(t, splitSite(t), counted("pelmeni", 100))
	key, request := newKey(), v.offer(t, nil).request(22)
	v.broker.kill(t)
	first := v.robot.accrue(t, key, request).want(t, 201)
	v.bonus.kill(t)
	v.broker.restart(t)
	v.bonus.restart(t)
	wantSameAnswer(t, first, v.robot.accrue(t, key, request))
	made := into[bonus](t, first)
	v.bus(t).wantTold(t, request.OrderID, made.ID)
	v.bonus.stop(t) // all is told now
	v.bus(t).wantTold(t, request.OrderID, made.ID)
	v.bonus.restart(t)
	v.chief.wantOneEntry(t, made)
}

func bonusPoison(t *testing.T) {
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

func bonusRoles(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	c := v.offer(t, nil)
	request, place := c.request(1), "/v1/campaigns/"+c.ID
	bob, nobody := v.customer(t, newName("bob")), client{site: v.site}
	for _, r := range []struct {
		name         string
		who          client
		method, path string
		body         any
		status       int
		code         string
	}{
		{"a customer asks for points", v.alice, "POST", "/v1/bonuses", request, 403, "forbidden"},
		{"staff ask for points", v.cook, "POST", "/v1/bonuses", request, 403, "forbidden"},
		{"nobody asks for points", nobody, "POST", "/v1/bonuses", request, 401, "unauthenticated"},
		{"a customer reads another's wallet", bob, "GET", "/v1/wallet?user_id=" + v.alice.subject, nil, 404, "not_found"},
		{"a customer reads another's entries", bob, "GET", "/v1/wallet/entries?user_id=" + v.alice.subject, nil, 404, "not_found"},
		{"a customer reads a wallet that can't be", bob, "GET", "/v1/wallet?user_id=a%20b", nil, 400, "invalid_request"},
		{"an operator reads no one's wallet", v.chief, "GET", "/v1/wallet", nil, 400, "invalid_request"},
		{"an operator reads no one's entries", v.chief, "GET", "/v1/wallet/entries", nil, 400, "invalid_request"},
		{"staff read a wallet", v.cook, "GET", "/v1/wallet?user_id=" + v.alice.subject, nil, 403, "forbidden"},
		{"a service reads a wallet", v.robot, "GET", "/v1/wallet?user_id=" + v.alice.subject, nil, 403, "forbidden"},
		{"nobody reads a wallet", nobody, "GET", "/v1/wallet", nil, 401, "unauthenticated"},
		{"a customer makes a campaign", v.alice, "POST", "/v1/campaigns", v.terms(nil), 403, "forbidden"},
		{"a service makes a campaign", v.robot, "POST", "/v1/campaigns", v.terms(nil), 403, "forbidden"},
		{"staff change a campaign", v.cook, "PATCH", place, terms{"value": 1}, 403, "forbidden"},
		{"an operator changes no campaign", v.chief, "PATCH", "/v1/campaigns/" + uuid.NewString(), terms{"value": 1}, 404, "not_found"},
		{"a customer reads no campaign", v.alice, "GET", "/v1/campaigns/" + uuid.NewString(), nil, 404, "not_found"},
		{"nobody reads campaigns", nobody, "GET", "/v1/campaigns", nil, 401, "unauthenticated"},
		{"nobody reads a campaign", nobody, "GET", place, nil, 401, "unauthenticated"},
	} {
		t.Run(r.name, func(t *testing.T) { r.who.send(t, r.method, r.path, r.body).wantProblem(t, r.status, r.code) })
	}
	p := v.chief.send(t, "GET", "/v1/wallet", nil).wantProblem(t, 400, "invalid_request")
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/user_id" {
		t.Errorf("errors %v", p.Errors)
	}
	for _, who := range []client{v.alice, v.cook, v.robot, v.chief} {
		who.send(t, "GET", place, nil).want(t, 200)
		who.send(t, "GET", "/v1/campaigns?limit=1", nil).want(t, 200)
	}
	if own := into[wallet](t, bob.send(t, "GET", "/v1/wallet?user_id="+bob.subject, nil).want(t, 200)); own != (wallet{UserID: bob.subject}) {
		t.Errorf("own wallet %+v", own)
	}
}

func bonusInput(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	good := string(encode(v.offer(t, nil).request(7)))
	for pointer, bodies := range map[string][]string{
		"/points":      {replace(t, good, `7}`, `0}`), replace(t, good, `7}`, `-7}`), replace(t, good, `7}`, `1000000000001}`), replace(t, good, `7}`, `7.0}`), replace(t, good, `7}`, `"7"}`), replace(t, good, `7}`, `null}`)},
		"/user_id":     {replace(t, good, `carol`, `carol x`), replace(t, good, `carol`, `кэрол`), replace(t, good, `"user_id"`, `"user_id":"a","user_id"`)},
		"/User_id":     {replace(t, good, `user_id`, `User_id`)},
		"/order_id":    {replace(t, good, `"order_id":"`, `"order_id":"urn:uuid:`)},
		"/campaign_id": {replace(t, good, `"campaign_id":"`, `"campaign_id":"x`)},
		"/tip":         {replace(t, good, `7}`, `7,"tip":1}`)},
	} {
		for _, body := range bodies {
			p := v.robot.accrue(t, "", body).wantProblem(t, 400, "invalid_request")
			found := false
			for _, e := range p.Errors {
				found = found || e.Pointer == pointer
			}
			if !found {
				t.Errorf("%s: errors %v, want %s", body, p.Errors, pointer)
			}
		}
	}
	v.robot.accrue(t, "", good).want(t, 201)
}
