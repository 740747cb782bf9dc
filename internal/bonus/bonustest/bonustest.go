// Package bonustest is the suite that every store of bonus passes: what the rules promise, shown over that store, and
// what they rely on. A new engine is handed to [Run] and to nothing else.
package bonustest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/audit"
	"kuhnya/internal/bonus"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/money"
	"kuhnya/outbox"
)

// Engine is a fresh database behind a store.
type Engine struct {
	Store      bonus.Store
	Outbox     outbox.Store
	Classify   func(error) batch.Class
	Violations func(context.Context) ([]audit.Violation, error)
}

// Run runs the suite. open makes a fresh database for each test.
func Run(t *testing.T, open func(*testing.T) Engine) {
	for name, test := range map[string]func(*testing.T, *world){
		"Accrue/replays_what_was_answered_byte_for_byte":           replaysByteForByte,
		"Accrue/refuses_another_command_under_a_key":               refusesAnotherCommand,
		"Accrue/keeps_keys_of_callers_apart":                       keepsKeysOfCallersApart,
		"Accrue/keeps_business_keys_apart":                         keepsBusinessKeysApart,
		"Accrue/answers_another_key_with_the_accrual":              answersAnotherKey,
		"Accrue/is_repeatable_without_a_key":                       repeatableWithoutAKey,
		"Accrue/leaves_the_key_of_a_refusal_free":                  leavesTheKeyOfARefusalFree,
		"Accrue/looks_at_the_key_first":                            looksAtTheKeyFirst,
		"Accrue/refuses_what_is_ill_formed":                        refusesIllFormedCommands,
		"Accrue/refuses_a_balance_beyond_64_bits":                  refusesOverflow,
		"Accrue/makes_one_accrual_of_parallel_repeats":             oneAccrualOfRepeats,
		"Accrue/makes_one_accrual_across_processes":                oneAccrualAcrossProcesses,
		"Accrue/makes_one_accrual_of_parallel_keys":                oneAccrualOfParallelKeys,
		"Accrue/says_that_its_keys_are_in_progress":                saysInProgress,
		"Accrue/replays_while_a_replay_is_in_progress":             replaysDuringAReplay,
		"Accrue/keeps_the_answer_of_a_client_that_left":            keepsTheAnswerOfAClientThatLeft,
		"Accrue/a_refusal_harms_no_neighbour":                      refusalHarmsNoNeighbour,
		"Accrue/decides_again_after_losing_its_business_key":       losesTheBusinessKey,
		"Accrue/decides_again_after_losing_its_client_key":         losesTheClientKey,
		"Evaluate/accrues_once_per_campaign":                       accruesOncePerCampaign,
		"Evaluate/makes_one_accrual_with_a_client":                 racesAClient,
		"Evaluate/lets_an_accrual_stand":                           letsAnAccrualStand,
		"Evaluate/decides_again_after_losing_to_a_client":          losesToAClient,
		"Evaluate/judges_by_the_terms_at_placing":                  judgesByTheTermsAtPlacing,
		"Evaluate/judges_by_the_window_and_the_conditions":         judgesByTheConditions,
		"Evaluate/ends_a_window_by_the_moment":                     endsAWindowByTheMoment,
		"Evaluate/never_decides_anew":                              neverDecidesAnew,
		"Evaluate/refuses_what_is_ill_formed":                      refusesIllFormedOrders,
		"Evaluate/an_order_that_can_not_be_booked_harms_no_other":  overflowHarmsNoOther,
		"Evaluate/decides_nothing_after_a_store_that_fails":        decidesNothingAfterAFailure,
		"Evaluate/tells_in_the_trace_of_the_record":                tellsInTheTrace,
		"Campaign/replays_the_campaign_of_a_key":                   replaysTheCampaign,
		"Campaign/is_created_once_by_parallel_repeats":             createsOnce,
		"Campaign/decides_again_after_losing_its_key":              losesTheCampaignKey,
		"Campaign/finds_a_fixed_id":                                findsAFixedID,
		"Campaign/starts_now_unless_told_otherwise":                startsNow,
		"Campaign/refuses_terms_that_mean_nothing":                 refusesTerms,
		"Campaign/changes_from_now_on":                             changesFromNowOn,
		"Campaign/equal_terms_add_no_version":                      equalTerms,
		"Campaign/refuses_changes_that_mean_nothing":               refusesChanges,
		"Campaign/which_version_was_in_force_is_never_ambiguous":   neverAmbiguous,
		"Campaign/parallel_changes_are_all_kept":                   parallelChanges,
		"Store/an_insert_leaves_out_what_exists":                   insertsLeaveOut,
		"Store/nothing_remains_of_a_transaction_that_failed":       nothingRemains,
		"Store/campaigns_are_listed_newest_first_and_page_through": listsCampaigns,
		"Store/entries_are_listed_newest_first_and_page_through":   listsEntries,
		"Store/versions_up_to_a_moment":                            versionsUpTo,
		"Property/whatever_is_asked_how_often_is_accrued_once":     property,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, open(t))
			test(t, w)
			w.mustBeClean()
		})
	}
}

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

// inParallel runs f n times at once and returns when all have ended.
func inParallel(n int, f func(i int)) {
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		done.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	done.Wait()
}

// whileHeld runs f while another process keeps the balances, and with them the transactions of all others, locked.
func (w *world) whileHeld(f func()) {
	held, release := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		err := w.engine.Store.Write(w.ctx, func(tx bonus.Tx) error {
			err := tx.AddBalances(map[bonus.Account]int64{bonus.Issued: -1})
			close(held)
			<-release
			return errors.Join(err, errStop)
		})
		if !errors.Is(err, errStop) {
			w.t.Error(err)
		}
	})
	<-held
	f()
	close(release)
	holder.Wait()
}

var errStop = errors.New("stop")

// awaitUndecided returns when the service is busy with n keys.
func (w *world) awaitUndecided(n int) {
	for w.service.Undecided() != n {
		runtime.Gosched()
	}
}

// outrun is a store in which, once, another process commits after the rules have looked and before they insert. On an
// engine where writers take turns that can't happen, so the rules don't see what was committed when they look.
type outrun struct {
	bonus.Store
	rival func() // nil once it was there
}

func (s *outrun) Write(ctx context.Context, f func(bonus.Tx) error) error {
	rival := s.rival
	s.rival = nil
	if rival == nil {
		return s.Store.Write(ctx, f)
	}
	rival()
	return s.Store.Write(ctx, func(tx bonus.Tx) error { return f(blindTx{tx}) })
}

type blindTx struct{ bonus.Tx }

func (blindTx) AnswersByKey([]bonus.CallerKey) (map[bonus.CallerKey]bonus.Answer, error) {
	return map[bonus.CallerKey]bonus.Answer{}, nil
}

func (blindTx) AccrualsByBusinessKey([]bonus.BusinessKey) (map[bonus.BusinessKey]bonus.Accrual, error) {
	return map[bonus.BusinessKey]bonus.Accrual{}, nil
}

func (blindTx) CampaignByKey(bonus.CallerKey) (c bonus.Campaign, found bool, err error) {
	return c, false, nil
}

func (blindTx) LockCampaign(uuid.UUID) (c bonus.Campaign, found bool, err error) {
	return c, false, nil
}

// outrunBy is another process that is outrun once.
func (w *world) outrunBy(rival func()) *bonus.Service {
	return w.newService(&outrun{w.engine.Store, rival})
}

// clock is a store whose clock shows what it is set to.
type clock struct {
	bonus.Store
	now time.Time
}

func (s *clock) Write(ctx context.Context, f func(bonus.Tx) error) error {
	return s.Store.Write(ctx, func(tx bonus.Tx) error { return f(clockTx{tx, s.now}) })
}

type clockTx struct {
	bonus.Tx
	now time.Time
}

func (t clockTx) Now() (time.Time, error) { return t.now, nil }
