package bonustest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/bonus"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/money"
)

// tb is what a test reports to: a test, or a run of a property.
type tb interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is two services, as of two processes, over a fresh database with one campaign of 5 %.
type world struct {
	t        tb
	ctx      context.Context
	cleanup  func(func())
	engine   Engine
	service  *bonus.Service
	other    *bonus.Service
	campaign bonus.Campaign
	latest   time.Time // when the latest change of a campaign came into force, by the database's clock

	mu    sync.Mutex
	users map[string]bool // who may have got points
}

const caller = "service:erp"

func newWorld(t *testing.T, engine Engine) *world {
	w := &world{t: t, ctx: t.Context(), cleanup: t.Cleanup, engine: engine, users: map[string]bool{}}
	w.service, w.other = w.newService(engine.Store), w.newService(engine.Store)
	w.campaign = w.mustCreate(percent(500))
	return w
}

// newService is another process on the same database.
func (w *world) newService(store bonus.Store) *bonus.Service {
	s := bonus.New(store, bonus.Options{
		Topics: event.Topics{Prefix: "test."}, Classify: w.engine.Classify, Wake: func() {}, Encode: encode,
	})
	w.cleanup(func() { w.must(s.Close(context.Background())) })
	return s
}

// encode makes a body that is another one each time: a replay can only be equal to what was saved.
func encode(a bonus.Accrual) ([]byte, error) {
	return fmt.Appendf(nil, `{"id":%q,"points":%d,"encoding":%q}`, a.ID, a.Points, uuid.New()), nil
}

func percent(basisPoints int64) bonus.Terms {
	return bonus.Terms{
		Name: "Cash back", Kind: bonus.Percent, Value: basisPoints, Timezone: "Europe/Moscow", Active: true,
		StartsAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

func fixed(points int64) bonus.Terms {
	terms := percent(1)
	terms.Name, terms.Kind, terms.Value = "Thank you", bonus.Fixed, points
	return terms
}

func rub(amount int64) money.Money { return money.Money{Amount: amount, Currency: money.RUB} }

func (w *world) mustCreate(terms bonus.Terms) bonus.Campaign {
	w.t.Helper()
	c, _, err := w.service.CreateCampaign(w.ctx, bonus.CreateCampaign{Terms: terms, Caller: "operator:olga"})
	w.must(err)
	w.note(c)
	return c
}

func (w *world) note(c bonus.Campaign) {
	if c.UpdatedAt.After(w.latest) {
		w.latest = c.UpdatedAt
	}
}

// command asks for points of the campaign for a new order.
func (w *world) command(user string, points int64, key idempotency.Key) bonus.Accrue {
	return bonus.Accrue{
		BusinessKey: bonus.BusinessKey{UserID: user, CampaignID: w.campaign.ID, OrderID: uuid.New()},
		Points:      points, Caller: caller, Key: key,
	}
}

func (w *world) accrue(service *bonus.Service, cmd bonus.Accrue) (bonus.Accrued, error) {
	w.mu.Lock()
	w.users[cmd.UserID] = true
	w.mu.Unlock()
	return service.Accrue(w.ctx, cmd)
}

func (w *world) mustAccrue(cmd bonus.Accrue) bonus.Accrued {
	w.t.Helper()
	accrued, err := w.accrue(w.service, cmd)
	w.must(err)
	return accrued
}

func (w *world) refused(cmd bonus.Accrue, code fault.Code) {
	w.t.Helper()
	_, err := w.accrue(w.service, cmd)
	w.mustRefuse(err, code)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) mustRefuse(err error, code fault.Code) {
	w.t.Helper()
	if fault.CodeOf(err) != code {
		w.t.Fatalf("got %v, want %s", err, code)
	}
}

func (w *world) mustHave(user string, want int64) {
	w.t.Helper()
	got, err := w.engine.Store.Balance(w.ctx, user)
	w.must(err)
	if got != want {
		w.t.Fatalf("%s has %d points, want %d", user, got, want)
	}
}

// entries is everything that a user got, newest first.
func (w *world) entries(user string) []bonus.WalletEntry {
	w.t.Helper()
	entries, err := w.engine.Store.Entries(w.ctx, user, uuid.Nil, 100_000)
	w.must(err)
	return entries
}

// mustBeClean ends every test: whatever happened, the invariants hold, each wallet is the sum of its entries, no business
// key has two accruals, and each accrual has its message in the outbox, and only one.
func (w *world) mustBeClean() {
	w.t.Helper()
	violations, err := w.engine.Violations(w.ctx)
	w.must(err)
	for _, v := range violations {
		w.t.Error(v)
	}
	accruals := map[uuid.UUID]bonus.Accrual{}
	keys := map[bonus.BusinessKey]bool{}
	for user := range w.users {
		var sum int64
		for _, e := range w.entries(user) {
			if e.UserID != user || e.Amount != e.Points || keys[e.BusinessKey] {
				w.t.Errorf("entry of %s: %+v", user, e)
			}
			sum += e.Amount
			keys[e.BusinessKey] = true
			accruals[e.Accrual.ID] = e.Accrual
		}
		w.mustHave(user, sum)
	}
	if diff := cmp.Diff(accruals, w.told()); diff != "" {
		w.t.Errorf("accruals that exist and those that were told (-exist +told):\n%s", diff)
	}
}

// messages is how many wait in the outbox.
func (w *world) messages() int64 {
	w.t.Helper()
	depth, err := w.engine.Outbox.Depth(w.ctx)
	w.must(err)
	return depth.Waiting
}

// told is the accruals that the outbox tells of.
func (w *world) told() map[uuid.UUID]bonus.Accrual {
	w.t.Helper()
	rows, err := w.engine.Outbox.Pending(w.ctx, 0, 100_000)
	w.must(err)
	told := map[uuid.UUID]bonus.Accrual{}
	for _, row := range rows {
		var data event.BonusAccrued
		w.must(json.Unmarshal(row.Payload, &data))
		if envelope := event.Open(row.Headers); envelope.Type != event.BonusAccruedType || row.Topic != "test.bonuses" {
			w.t.Errorf("a message of type %s on %s", envelope.Type, row.Topic)
		}
		if _, twice := told[data.AccrualID]; twice || row.Key != data.OrderID.String() {
			w.t.Errorf("message of %s under key %s, told before: %v", data.AccrualID, row.Key, twice)
		}
		told[data.AccrualID] = bonus.Accrual{
			ID: data.AccrualID, Points: data.Points, Origin: bonus.Origin(data.Origin), CreatedAt: data.At,
			BusinessKey: bonus.BusinessKey{UserID: data.UserID, CampaignID: data.CampaignID, OrderID: data.OrderID},
		}
	}
	return told
}
