package e2e

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestBonus(t *testing.T) {
	keep(t,
		promise{"50 requests under one key while the first is held up: one accrues, the others wait their turn outside", bonusHeldUp},
		promise{"two keys for the same user, campaign and order are one bonus", bonusTwoKeys},
		promise{"without a key a bonus is one all the same", bonusWithoutKey},
		promise{"a bonus of a campaign that nobody knows is pointed at", bonusUnknownCampaign},
		promise{"a process killed before a bonus is told tells it once", bonusKilledBeforeTelling},
		promise{"a bonus is told within the trace of its request", bonusTraced},
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

func bonusTraced(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	request := v.offer(t, nil).request(22)
	id, traceparent := newTrace()
	made := into[bonus](t, v.robot.send(t, "POST", "/v1/bonuses", request, "traceparent", traceparent).want(t, 201))
	b := v.bus(t)
	b.wantTold(t, request.OrderID, made.ID)
	for _, r := range b.all(t, bonusesTopic) {
		if string(r.Key) == request.OrderID {
			wantTrace(t, r, id, traceparent)
		}
	}
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
