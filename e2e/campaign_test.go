package e2e

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCampaigns(t *testing.T) {
	keep(t,
		promise{"one that was created is where its Location says", campaignCreated},
		promise{"one request is one campaign under its key, and a replay shows it as it is now", campaignReplayed},
		promise{"without a start it starts now, and a repeat is still a repeat", campaignStartsNow},
		promise{"dates without an offset are meant in its time zone", campaignDates},
		promise{"a time that its clocks skip or show twice is pointed at", campaignDoubtfulTimes},
		promise{"a change is a version, and no change is none", campaignChanged},
		promise{"terms that mean nothing are pointed at", campaignNonsense},
		promise{"they are listed newest first, page by page", campaignPages},
		promise{"demo data is brought in once and left alone", campaignDemo},
	)
}

func campaignCreated(t *testing.T) {
	v, _ := newOffer(t)
	answer := v.chief.create(t, "", v.terms(terms{
		"min_order": 100_00, "cap_per_order": 50, "starts_at": "2026-04-01T00:00:00+03:00", "ends_at": "2026-05-01T00:00:00Z",
	})).want(t, 201)
	made := into[campaign](t, answer)
	want := campaign{
		ID: made.ID, Name: "5 % back", Kind: "percent", Value: 500, MinOrder: 100_00, CapPerOrder: 50, Timezone: "Europe/Moscow",
		StartsAt: date("2026-03-31T21:00:00Z"), EndsAt: new(date("2026-05-01T00:00:00Z")), EstablishmentID: &v.id, Active: true,
		Version: 1, CreatedAt: made.CreatedAt, UpdatedAt: made.CreatedAt,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if at := answer.header.Get("Location"); at != "/v1/campaigns/"+made.ID {
		t.Errorf("Location is %q", at)
	}
	if found := into[campaign](t, v.alice.send(t, "GET", answer.header.Get("Location"), nil).want(t, 200)); !cmp.Equal(found, made) {
		t.Errorf("found %+v, want %+v", found, made)
	}
	plain := into[campaign](t, v.chief.create(t, "", terms{"name": "x", "kind": "fixed", "value": 1, "timezone": "UTC", "active": false}).want(t, 201))
	if plain.EndsAt != nil || plain.EstablishmentID != nil || plain.MinOrder != 0 || plain.CapPerOrder != 0 || plain.Active {
		t.Errorf("what was left out is %+v", plain)
	}
}

func date(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err) // the tests' own
	}
	return at
}

func campaignReplayed(t *testing.T) {
	v, _ := newOffer(t)
	key := newKey()
	first := v.chief.create(t, key, v.terms(nil)).want(t, 201)
	made := into[campaign](t, first)
	v.chief.change(t, made.ID, terms{"value": 100}).want(t, 200)
	again := v.chief.create(t, key, v.terms(nil)).want(t, 200)
	if now := into[campaign](t, again); now.ID != made.ID || now.Version != 2 || now.Value != 100 {
		t.Errorf("replayed %+v", now)
	}
	if again.header.Get("Idempotent-Replayed") != "true" || again.header.Get("Location") != first.header.Get("Location") {
		t.Errorf("headers %v", again.header)
	}
	v.chief.create(t, key, v.terms(terms{"value": 100})).wantProblem(t, 422, "idempotency_key_reused")
	other := client{v.site, "", v.tokens.of(t, "--role", "operator", "--subject", newName("root"))}
	if his := into[campaign](t, other.create(t, key, v.terms(nil)).want(t, 201)); his.ID == made.ID {
		t.Error("another operator's key is the same key")
	}
	answers := make([]response, 20)
	key = newKey()
	together(len(answers), func(i int) { answers[i] = v.chief.create(t, key, v.terms(nil)) })
	if n := count(answers); n[201] != 1 || n[200] != 19 {
		t.Errorf("answers %v", n)
	}
}

func campaignStartsNow(t *testing.T) {
	v, _ := newOffer(t)
	key := newKey()
	made := into[campaign](t, v.chief.create(t, key, v.terms(nil)).want(t, 201))
	if !made.StartsAt.Equal(made.CreatedAt) {
		t.Errorf("starts at %s, created at %s", made.StartsAt, made.CreatedAt)
	}
	v.chief.create(t, key, v.terms(nil)).want(t, 200)
	v.chief.create(t, key, v.terms(terms{"starts_at": made.StartsAt})).wantProblem(t, 422, "idempotency_key_reused")
	p := v.chief.create(t, "", v.terms(terms{"ends_at": "2026-01-01"})).wantProblem(t, 400, "invalid_request") // over already
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/ends_at" {
		t.Errorf("errors %v", p.Errors)
	}
}

func campaignDates(t *testing.T) {
	v, _ := newOffer(t)
	made := v.offer(t, terms{"timezone": "Asia/Kolkata", "starts_at": "2026-03-01", "ends_at": "2026-04-01T00:00:00"})
	if want := date("2026-02-28T18:30:00Z"); !made.StartsAt.Equal(want) || !made.EndsAt.Equal(date("2026-03-31T18:30:00Z")) {
		t.Errorf("%s to %s", made.StartsAt, made.EndsAt)
	}
	raw := string(v.chief.send(t, "GET", "/v1/campaigns/"+made.ID, nil).want(t, 200).body)
	replace(t, raw, `"starts_at":"2026-02-28T18:30:00Z"`, "") // in UTC
	moved := into[campaign](t, v.chief.change(t, made.ID, terms{"timezone": "UTC"}).want(t, 200))
	if !moved.StartsAt.Equal(made.StartsAt) || !moved.EndsAt.Equal(*made.EndsAt) || moved.Version != 2 {
		t.Errorf("a time zone alone moved %s to %s", moved.StartsAt, moved.EndsAt)
	}
	moved = into[campaign](t, v.chief.change(t, made.ID, terms{"ends_at": "2026-04-02"}).want(t, 200))
	if !moved.EndsAt.Equal(date("2026-04-02T00:00:00Z")) {
		t.Errorf("ends at %s, in the time zone that it has now", moved.EndsAt)
	}
	moved = into[campaign](t, v.chief.change(t, made.ID, terms{"ends_at": "2026-04-02", "timezone": "America/New_York"}).want(t, 200))
	if !moved.EndsAt.Equal(date("2026-04-02T04:00:00Z")) {
		t.Errorf("ends at %s, in the time zone of the same change", moved.EndsAt)
	}
}

func campaignDoubtfulTimes(t *testing.T) {
	v, _ := newOffer(t)
	for at, pointer := range map[string]string{
		"2026-03-29T02:30:00":       "/starts_at", // skipped
		"2026-10-25T02:30:00":       "/starts_at", // twice
		"2026-10-25T02:30:00+01:00": "",
		"2026-03-29":                "",
		"29.03.2026":                "/starts_at",
		"2026-03-29T00:00":          "/starts_at",
		"":                          "/starts_at",
	} {
		answer := v.chief.create(t, "", v.terms(terms{"timezone": "Europe/Berlin", "starts_at": at}))
		if pointer == "" {
			answer.want(t, 201)
			continue
		}
		if p := answer.wantProblem(t, 400, "invalid_request"); len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: errors %v", at, p.Errors)
		}
	}
}

func campaignChanged(t *testing.T) {
	v, c := newOffer(t)
	for _, body := range []any{
		terms{}, terms{"value": 500}, terms{"kind": "percent"}, terms{"starts_at": c.StartsAt}, terms{"active": true},
		terms{"name": c.Name, "timezone": c.Timezone, "establishment_id": v.id, "min_order": 0, "cap_per_order": 0},
	} {
		if now := into[campaign](t, v.chief.change(t, c.ID, body).want(t, 200)); !cmp.Equal(now, c) {
			t.Errorf("%v made it %+v", body, now)
		}
	}
	want := c
	want.Value, want.Name, want.Active, want.MinOrder, want.CapPerOrder, want.Version = 100, "Less", false, 1, 2, 2
	for range 2 {
		now := into[campaign](t, v.chief.change(t, c.ID, terms{"value": 100, "name": "Less", "active": false, "min_order": 1, "cap_per_order": 2}).want(t, 200))
		if !now.UpdatedAt.After(c.UpdatedAt) {
			t.Errorf("updated at %s, before at %s", now.UpdatedAt, c.UpdatedAt)
		}
		now.UpdatedAt = want.UpdatedAt
		if diff := cmp.Diff(want, now); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func campaignNonsense(t *testing.T) {
	v, c := newOffer(t)
	for name, r := range map[string]struct {
		with    terms
		pointer string
	}{
		"no name":                  {terms{"name": ""}, "/name"},
		"a blank name":             {terms{"name": "  "}, "/name"},
		"an unknown kind":          {terms{"kind": "gift"}, "/kind"},
		"nothing":                  {terms{"value": 0}, "/value"},
		"more than all":            {terms{"value": 10_001}, "/value"},
		"a negative minimum":       {terms{"min_order": -1}, "/min_order"},
		"a negative cap":           {terms{"cap_per_order": -1}, "/cap_per_order"},
		"no time zone":             {terms{"timezone": ""}, "/timezone"},
		"an unknown time zone":     {terms{"timezone": "Mars/Olympus"}, "/timezone"},
		"one and a date":           {terms{"timezone": "Mars/Olympus", "ends_at": "2999-01-01"}, "/timezone"},
		"the server's time zone":   {terms{"timezone": "Local"}, "/timezone"},
		"an end before the start":  {terms{"starts_at": "2026-04-01", "ends_at": "2026-04-01"}, "/ends_at"},
		"an end that is no end":    {terms{"ends_at": nil}, "/ends_at"},
		"a place that is none":     {terms{"establishment_id": "x"}, "/establishment_id"},
		"a place that can't be":    {terms{"establishment_id": "00000000-0000-0000-0000-000000000000"}, "/establishment_id"},
		"a year that can't be":     {terms{"starts_at": "1969-12-31T23:59:59Z"}, "/starts_at"},
		"a member of another name": {terms{"Value": 1}, "/Value"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, answer := range []response{v.chief.create(t, newKey(), v.terms(r.with)), v.chief.change(t, c.ID, r.with)} {
				p := answer.wantProblem(t, 400, "invalid_request")
				if len(p.Errors) != 1 || p.Errors[0].Pointer != r.pointer {
					t.Errorf("errors %v, want %s", p.Errors, r.pointer)
				}
			}
		})
	}
	v.chief.change(t, c.ID, terms{"kind": "fixed"}).wantProblem(t, 400, "invalid_request")
	if now := into[campaign](t, v.chief.send(t, "GET", "/v1/campaigns/"+c.ID, nil).want(t, 200)); !cmp.Equal(now, c) {
		t.Errorf("%+v, want %+v", now, c)
	}
}

func campaignPages(t *testing.T) {
	v, first := newOffer(t)
	second := v.offer(t, nil)
	listed, at := pages[campaign](t, v.alice, "/v1/campaigns", 1), map[string]int{}
	for i, c := range listed {
		if at[c.ID] = i; i > 0 && listed[i-1].ID <= c.ID {
			t.Errorf("%s after %s", c.ID, listed[i-1].ID)
		}
	}
	if at[second.ID] >= at[first.ID] || len(at) != len(listed) {
		t.Errorf("listed %v", listed)
	}
	v.alice.send(t, "GET", "/v1/campaigns?cursor=x", nil).wantProblem(t, 400, "invalid_request")
}

func campaignDemo(t *testing.T) {
	s := soloSite(t)
	chief := s.operator(t)
	listed := func() []campaign {
		return into[list[campaign]](t, chief.send(t, "GET", "/v1/campaigns", nil).want(t, 200)).Items
	}
	demo := listed()
	if len(demo) != 2 || demo[1].ID != "01980000-0000-7000-8000-000009000001" || demo[0].ID != "01980000-0000-7000-8000-000009000002" ||
		demo[1].Kind != "percent" || demo[1].Value != 500 || demo[0].Kind != "fixed" || demo[0].Value != 10 {
		t.Errorf("demo campaigns %+v", demo)
	}
	chief.change(t, demo[0].ID, terms{"value": 11}).want(t, 200)
	changed := listed()
	s.kitchen.stop(t)
	s.kitchen.restart(t)
	if diff := cmp.Diff(changed, listed()); diff != "" {
		t.Errorf("after a restart (-before +after):\n%s", diff)
	}
}
