package bonustest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/bonus"
	"kuhnya/internal/fault"
)

var zero time.Time

func mustZone(t tb, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// nextMarch is the moment after the end of the next March that ends, in the zone of a moment.
func nextMarch(now time.Time) time.Time {
	ends := time.Date(now.Year(), time.April, 1, 0, 0, 0, 0, now.Location())
	if !ends.After(now) {
		ends = ends.AddDate(1, 0, 0)
	}
	return ends
}

func (w *world) mustChange(c bonus.Campaign, change func(*bonus.Terms)) bonus.Campaign {
	w.t.Helper()
	changed, err := w.service.ChangeCampaign(w.ctx, c.ID, func(t bonus.Terms) (bonus.Terms, error) {
		change(&t)
		return t, nil
	})
	w.must(err)
	w.note(changed)
	return changed
}

// retire switches a campaign off.
func (w *world) retire(c bonus.Campaign) bonus.Campaign {
	w.t.Helper()
	return w.mustChange(c, func(t *bonus.Terms) { t.Active = false })
}

func (w *world) read(id uuid.UUID) bonus.Campaign {
	w.t.Helper()
	c, found, err := w.engine.Store.Campaign(w.ctx, id)
	w.must(err)
	if !found {
		w.t.Fatalf("no campaign %s", id)
	}
	return c
}

func (w *world) same(what string, want, got any) {
	w.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// rich are terms with everything that terms can have.
func rich() bonus.Terms {
	return bonus.Terms{
		Name: "Весна \"№1\"", Kind: bonus.Percent, Value: 250, MinOrder: 1, CapPerOrder: 1 << 62, Timezone: "Asia/Kolkata", Active: true,
		StartsAt:        time.Date(2026, 3, 1, 0, 0, 0, 123_456_789, time.FixedZone("", 19_800)),
		EndsAt:          new(time.Date(2026, 4, 1, 0, 0, 0, 1_999, time.FixedZone("", 19_800))),
		EstablishmentID: new(uuid.New()),
	}
}

func replaysTheCampaign(t *testing.T, w *world) {
	cmd := bonus.CreateCampaign{Terms: rich(), Caller: "operator:olga", Key: "k"}
	first, replayed, err := w.service.CreateCampaign(w.ctx, cmd)
	w.must(err)
	if replayed || first.Version != 1 || !first.CreatedAt.Equal(first.UpdatedAt) || first.StartsAt.Nanosecond() != 123_456_000 {
		t.Errorf("created: %+v, replayed %v", first, replayed)
	}
	w.same("read", first, w.read(first.ID))
	changed := w.mustChange(first, func(t *bonus.Terms) { t.Value = 100 })
	again, replayed, err := w.other.CreateCampaign(w.ctx, cmd)
	w.must(err)
	if !replayed {
		t.Error("not marked as replayed")
	}
	w.same("replay shows the campaign as it is now", changed, again)

	other := cmd
	other.Terms.Value++
	_, _, err = w.service.CreateCampaign(w.ctx, other)
	w.mustRefuse(err, fault.IdempotencyKeyReused)
	other.Caller = "operator:oleg"
	olegs, replayed, err := w.service.CreateCampaign(w.ctx, other)
	w.must(err)
	if replayed || olegs.ID == first.ID {
		t.Error("a key of one operator means something for another")
	}
	cmd.Key = ""
	for range 2 {
		if _, replayed, err := w.service.CreateCampaign(w.ctx, cmd); replayed || err != nil {
			t.Errorf("without a key: replayed %v, %v", replayed, err)
		}
	}
}

func createsOnce(t *testing.T, w *world) {
	var mu sync.Mutex
	created, ids := 0, map[uuid.UUID]bool{}
	inParallel(20, func(i int) {
		c, replayed, err := w.processes()[i%2].CreateCampaign(w.ctx, bonus.CreateCampaign{Terms: fixed(1), Caller: "operator:olga", Key: "k"})
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
			return
		}
		ids[c.ID] = true
		if !replayed {
			created++
		}
	})
	if created != 1 || len(ids) != 1 {
		t.Errorf("%d created, ids %v", created, ids)
	}
}

func losesTheCampaignKey(t *testing.T, w *world) {
	for _, cmd := range []bonus.CreateCampaign{{Terms: fixed(1), Key: "k"}, {Terms: fixed(1), ID: uuid.New()}} {
		var first bonus.Campaign
		loser := w.outrunBy(func() {
			var err error
			first, _, err = w.service.CreateCampaign(w.ctx, cmd)
			w.must(err)
		})
		c, replayed, err := loser.CreateCampaign(w.ctx, cmd)
		w.must(err)
		if !replayed {
			t.Error("not marked as replayed")
		}
		w.same("the loser's campaign", first, c)
	}
}

func findsAFixedID(t *testing.T, w *world) {
	cmd := bonus.CreateCampaign{ID: uuid.New(), Terms: fixed(10), Caller: "system:demo"}
	first, replayed, err := w.service.CreateCampaign(w.ctx, cmd)
	w.must(err)
	if replayed || first.ID != cmd.ID {
		t.Errorf("created %s, replayed %v", first.ID, replayed)
	}
	changed := w.mustChange(first, func(t *bonus.Terms) { t.Value = 20 })
	again, replayed, err := w.service.CreateCampaign(w.ctx, cmd)
	w.must(err)
	if !replayed {
		t.Error("not marked as replayed")
	}
	w.same("what an operator changed since stays", changed, again)
}

// startsNow has an operator name no start: that is the moment of creation, for repeats too.
func startsNow(t *testing.T, w *world) {
	terms := percent(500)
	terms.StartsAt = zero
	cmd := bonus.CreateCampaign{Terms: terms, Caller: "operator:olga", Key: "k"}
	c, _, err := w.service.CreateCampaign(w.ctx, cmd)
	w.must(err)
	w.same("start", c.CreatedAt, c.StartsAt)
	again, replayed, err := w.service.CreateCampaign(w.ctx, cmd)
	w.must(err)
	if !replayed {
		t.Error("not marked as replayed")
	}
	w.same("replay", c, again)
	cmd.Key, cmd.Terms.EndsAt = "k2", &c.CreatedAt
	_, _, err = w.service.CreateCampaign(w.ctx, cmd)
	w.mustRefuse(err, fault.InvalidRequest)
}

func refusesTerms(t *testing.T, w *world) {
	for name, c := range map[string]struct {
		pointer string
		change  func(*bonus.Terms)
	}{
		"no name":               {"/name", func(t *bonus.Terms) { t.Name = "" }},
		"blank name":            {"/name", func(t *bonus.Terms) { t.Name = " \t" }},
		"long name":             {"/name", func(t *bonus.Terms) { t.Name = strings.Repeat("я", 201) }},
		"no kind":               {"/kind", func(t *bonus.Terms) { t.Kind = "" }},
		"unknown kind":          {"/kind", func(t *bonus.Terms) { t.Kind = "Percent" }},
		"no percent":            {"/value", func(t *bonus.Terms) { t.Value = 0 }},
		"more than all":         {"/value", func(t *bonus.Terms) { t.Value = 10_001 }},
		"negative":              {"/value", func(t *bonus.Terms) { t.Value = -1 }},
		"no points":             {"/value", func(t *bonus.Terms) { t.Kind, t.Value = bonus.Fixed, 0 }},
		"too many points":       {"/value", func(t *bonus.Terms) { t.Kind, t.Value = bonus.Fixed, bonus.MaxPoints+1 }},
		"negative minimum":      {"/min_order", func(t *bonus.Terms) { t.MinOrder = -1 }},
		"negative cap":          {"/cap_per_order", func(t *bonus.Terms) { t.CapPerOrder = -1 }},
		"no zone":               {"/timezone", func(t *bonus.Terms) { t.Timezone = "" }},
		"the machine's zone":    {"/timezone", func(t *bonus.Terms) { t.Timezone = "Local" }},
		"unknown zone":          {"/timezone", func(t *bonus.Terms) { t.Timezone = "Europe/Nowhere" }},
		"a path for a zone":     {"/timezone", func(t *bonus.Terms) { t.Timezone = "../etc/localtime" }},
		"ends at its start":     {"/ends_at", func(t *bonus.Terms) { t.EndsAt = new(t.StartsAt) }},
		"ends within its tick":  {"/ends_at", func(t *bonus.Terms) { t.EndsAt = new(t.StartsAt.Add(999)) }},
		"ends before its start": {"/ends_at", func(t *bonus.Terms) { t.EndsAt = new(t.StartsAt.Add(-time.Hour)) }},
		"nil establishment":     {"/establishment_id", func(t *bonus.Terms) { t.EstablishmentID = new(uuid.Nil) }},
	} {
		terms := percent(500)
		c.change(&terms)
		_, _, created := w.service.CreateCampaign(w.ctx, bonus.CreateCampaign{Terms: terms, Key: "k"})
		_, changed := w.service.ChangeCampaign(w.ctx, w.campaign.ID, func(bonus.Terms) (bonus.Terms, error) { return terms, nil })
		for _, err := range []error{created, changed} {
			if refusal, ok := errors.AsType[*fault.Error](err); !ok || refusal.Code != fault.InvalidRequest || refusal.Pointers[0].Pointer != c.pointer {
				t.Errorf("%s: %v, want a refusal of %s", name, err, c.pointer)
			}
		}
	}
	w.same("campaign", w.campaign, w.read(w.campaign.ID))
	for _, change := range []func(*bonus.Terms){
		func(t *bonus.Terms) { t.Name, t.Value = strings.Repeat("я", 200), 10_000 },
		func(t *bonus.Terms) { t.Kind, t.Value = bonus.Fixed, bonus.MaxPoints },
		func(t *bonus.Terms) { t.EndsAt = new(t.StartsAt.Add(time.Microsecond)) },
	} {
		terms := percent(1)
		change(&terms)
		w.mustCreate(terms)
	}
}

func changesFromNowOn(t *testing.T, w *world) {
	changed := w.mustChange(w.campaign, func(t *bonus.Terms) { kind := t.Kind; *t = rich(); t.Kind = kind })
	if changed.Version != 2 || !changed.UpdatedAt.After(w.campaign.UpdatedAt) || !changed.CreatedAt.Equal(w.campaign.CreatedAt) {
		t.Errorf("changed: %+v", changed)
	}
	w.same("read", changed, w.read(changed.ID))
}

func equalTerms(_ *testing.T, w *world) {
	w.same("nothing changed", w.campaign, w.mustChange(w.campaign, func(*bonus.Terms) {}))
	c := w.mustCreate(rich())
	terms := c.Terms
	w.same("the same, written elsewhere", c, w.mustChange(c, func(t *bonus.Terms) {
		zone := time.FixedZone("", 3600)
		t.StartsAt, t.EndsAt = terms.StartsAt.In(zone).Add(999), new(terms.EndsAt.In(zone))
		t.EstablishmentID = new(*terms.EstablishmentID)
	}))
	for i, change := range []func(*bonus.Terms){
		func(t *bonus.Terms) { t.Name += "!" },
		func(t *bonus.Terms) { t.Value++ },
		func(t *bonus.Terms) { t.MinOrder++ },
		func(t *bonus.Terms) { t.CapPerOrder-- },
		func(t *bonus.Terms) { t.Timezone = "Europe/Moscow" },
		func(t *bonus.Terms) { t.StartsAt = t.StartsAt.Add(time.Microsecond) },
		func(t *bonus.Terms) { t.EndsAt = new(t.EndsAt.Add(time.Microsecond)) },
		func(t *bonus.Terms) { t.EndsAt = nil },
		func(t *bonus.Terms) { t.EndsAt = new(t.StartsAt.AddDate(1, 0, 0)) },
		func(t *bonus.Terms) { t.EstablishmentID = new(uuid.New()) },
		func(t *bonus.Terms) { t.EstablishmentID = nil },
		func(t *bonus.Terms) { t.EstablishmentID = new(uuid.New()) },
		func(t *bonus.Terms) { t.Active = false },
	} {
		w.same("version", int64(i+2), w.mustChange(c, change).Version)
	}
}

func refusesChanges(_ *testing.T, w *world) {
	_, err := w.service.ChangeCampaign(w.ctx, uuid.New(), func(t bonus.Terms) (bonus.Terms, error) { return t, nil })
	w.mustRefuse(err, fault.NotFound)
	_, err = w.service.ChangeCampaign(w.ctx, w.campaign.ID, func(t bonus.Terms) (bonus.Terms, error) {
		t.Kind = bonus.Fixed
		return t, nil
	})
	w.mustRefuse(err, fault.InvalidRequest)
	_, err = w.service.ChangeCampaign(w.ctx, w.campaign.ID, func(t bonus.Terms) (bonus.Terms, error) {
		t.StartsAt = zero
		return t, nil
	})
	w.mustRefuse(err, fault.InvalidRequest)
	_, err = w.service.ChangeCampaign(w.ctx, w.campaign.ID, func(t bonus.Terms) (bonus.Terms, error) {
		t.Active = false
		return t, fault.Invalid("/active", "no")
	})
	w.mustRefuse(err, fault.InvalidRequest)
	w.same("campaign", w.campaign, w.read(w.campaign.ID))
}

// neverAmbiguous changes a campaign several times within one tick of the clock, and after the clock was set back.
func neverAmbiguous(t *testing.T, w *world) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	store := &clock{w.engine.Store, noon}
	service := w.newService(store)
	w.retire(w.campaign)
	c, _, err := service.CreateCampaign(w.ctx, bonus.CreateCampaign{Terms: fixed(1)})
	w.must(err)
	from := []time.Time{c.UpdatedAt}
	for i, now := range []time.Time{noon, noon, noon.Add(-time.Hour), noon.Add(time.Millisecond)} {
		store.now = now
		changed, err := service.ChangeCampaign(w.ctx, c.ID, func(t bonus.Terms) (bonus.Terms, error) {
			t.Value = int64(i + 2)
			return t, nil
		})
		w.must(err)
		if !changed.UpdatedAt.After(from[i]) {
			t.Errorf("version %d came into force at %s, the one before at %s", changed.Version, changed.UpdatedAt, from[i])
		}
		from = append(from, changed.UpdatedAt)
	}
	if got, want := from[4], noon.Add(time.Millisecond); !got.Equal(want) {
		t.Errorf("when the clock had caught up the version came into force at %s, want %s", got, want)
	}
	for i, at := range from {
		o := w.order("alice")
		o.PlacedAt = at
		w.mustEarn(o, map[uuid.UUID]int64{c.ID: int64(i + 1)})
	}
}

func parallelChanges(_ *testing.T, w *world) {
	inParallel(20, func(i int) {
		_, err := w.processes()[i%2].ChangeCampaign(w.ctx, w.campaign.ID, func(t bonus.Terms) (bonus.Terms, error) {
			t.Value++
			return t, nil
		})
		if err != nil {
			w.t.Error(err)
		}
	})
	c := w.read(w.campaign.ID)
	w.same("value", int64(520), c.Value)
	w.same("version", int64(21), c.Version)
}
