package bonustest

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/bonus"
	"kuhnya/internal/fault"
	"kuhnya/internal/money"
)

// mustRepeat accrues once more and wants that answer, as a repeat.
func (w *world) mustRepeat(cmd bonus.Accrue, want bonus.Accrued) {
	w.t.Helper()
	want.Repeat = true
	if diff := cmp.Diff(want, w.mustAccrue(cmd)); diff != "" {
		w.t.Errorf("repeat (-want +got):\n%s", diff)
	}
}

func replaysByteForByte(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	first := w.mustAccrue(cmd)
	if first.Status != 201 || first.Repeat || len(first.Body) == 0 {
		t.Errorf("first answer: %+v", first)
	}
	w.mustRepeat(cmd, first)
	cmd.Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	w.mustRepeat(cmd, first)
	w.service = w.other // as after a restart
	w.mustRepeat(cmd, first)
	w.mustHave("alice", 100)
}

func refusesAnotherCommand(_ *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	first := w.mustAccrue(cmd)
	for _, change := range []func(*bonus.Accrue){
		func(c *bonus.Accrue) { c.Points++ },
		func(c *bonus.Accrue) { c.UserID = "bob" },
		func(c *bonus.Accrue) { c.OrderID = uuid.New() },
		func(c *bonus.Accrue) { c.CampaignID = w.mustCreate(fixed(1)).ID },
	} {
		other := cmd
		change(&other)
		w.refused(other, fault.IdempotencyKeyReused)
	}
	w.mustRepeat(cmd, first)
	w.mustHave("alice", 100)
	w.mustHave("bob", 0)
}

func keepsKeysOfCallersApart(t *testing.T, w *world) {
	ids := map[uuid.UUID]bool{}
	// The second and third only concatenate to the same text.
	for _, key := range []bonus.CallerKey{{Caller: "service:erp", Key: "k"}, {Caller: "service:a", Key: "bc"}, {Caller: "service:ab", Key: "c"}} {
		cmd := w.command("alice", 1, key.Key)
		cmd.Caller = key.Caller
		ids[w.mustAccrue(cmd).AccrualID] = true
	}
	if len(ids) != 3 {
		t.Errorf("accruals %v", ids)
	}
	w.mustHave("alice", 3)
}

// keepsBusinessKeysApart has keys that are one text, or one set of bytes, when they are joined without care.
func keepsBusinessKeysApart(_ *testing.T, w *world) {
	digits := func(s string) uuid.UUID { return uuid.UUID([]byte(s)) }
	campaigns := []uuid.UUID{digits("1234567890123456"), digits("2345678901234561"), digits("3456789012345612")}
	for _, id := range campaigns {
		_, _, err := w.service.CreateCampaign(w.ctx, bonus.CreateCampaign{ID: id, Terms: fixed(1), Caller: "operator:olga"})
		w.must(err)
	}
	keys := []bonus.BusinessKey{
		{UserID: "u", CampaignID: campaigns[0], OrderID: campaigns[1]},
		{UserID: "u", CampaignID: campaigns[1], OrderID: campaigns[0]},
		{UserID: "u1", CampaignID: campaigns[1], OrderID: campaigns[0]},
		{UserID: "u12", CampaignID: campaigns[2], OrderID: campaigns[0]},
		{UserID: "U", CampaignID: campaigns[0], OrderID: campaigns[1]},
		{UserID: "wallet:u", CampaignID: campaigns[0], OrderID: campaigns[1]},
		{UserID: "issued", CampaignID: campaigns[0], OrderID: campaigns[1]},
	}
	for _, key := range keys {
		w.mustAccrue(bonus.Accrue{BusinessKey: key, Points: 10, Caller: caller})
	}
	for user, want := range map[string]int64{"u": 20, "u1": 10, "u12": 10, "U": 10, "wallet:u": 10, "issued": 10} {
		w.mustHave(user, want)
	}
}

func answersAnotherKey(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "first")
	first := w.mustAccrue(cmd)
	cmd.Key = "second"
	second := w.mustAccrue(cmd)
	if second.AccrualID != first.AccrualID || second.Status != 200 || !second.Repeat {
		t.Errorf("second key: %+v, want accrual %s", second, first.AccrualID)
	}
	w.mustRepeat(cmd, second) // the key was stored, with the answer that it got
	cmd.Points++
	w.refused(cmd, fault.IdempotencyKeyReused)
	cmd.Key = "third"
	w.refused(cmd, fault.AccrualConflict)
	cmd.OrderID = uuid.New()
	w.mustAccrue(cmd) // the refusal left the third key free
	w.mustHave("alice", 201)
}

func repeatableWithoutAKey(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "")
	first := w.mustAccrue(cmd)
	if again := w.mustAccrue(cmd); again.AccrualID != first.AccrualID || again.Status != 200 || !again.Repeat {
		t.Errorf("again: %+v", again)
	}
	cmd.Points++
	w.refused(cmd, fault.AccrualConflict)
	w.mustHave("alice", 100)
}

func leavesTheKeyOfARefusalFree(_ *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	cmd.CampaignID = uuid.New()
	w.refused(cmd, fault.InvalidRequest)
	_, _, err := w.service.CreateCampaign(w.ctx, bonus.CreateCampaign{ID: cmd.CampaignID, Terms: fixed(1)})
	w.must(err)
	w.mustAccrue(cmd)
	w.mustHave("alice", 100)
}

func looksAtTheKeyFirst(_ *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	w.mustAccrue(cmd)
	unknown := cmd
	unknown.CampaignID = uuid.New()
	w.refused(unknown, fault.IdempotencyKeyReused)
	other := cmd
	other.Points++
	w.refused(other, fault.IdempotencyKeyReused) // and not accrual_conflict
}

func refusesIllFormedCommands(_ *testing.T, w *world) {
	for _, change := range []func(*bonus.Accrue){
		func(c *bonus.Accrue) { c.UserID = "" },
		func(c *bonus.Accrue) { c.UserID = "a b" },
		func(c *bonus.Accrue) { c.UserID = "алиса" },
		func(c *bonus.Accrue) { c.UserID = "a\x7f" },
		func(c *bonus.Accrue) { c.UserID = "\xff" },
		func(c *bonus.Accrue) { c.UserID = strings.Repeat("a", 65) },
		func(c *bonus.Accrue) { c.CampaignID = uuid.Nil },
		func(c *bonus.Accrue) { c.OrderID = uuid.Nil },
		func(c *bonus.Accrue) { c.Points = 0 },
		func(c *bonus.Accrue) { c.Points = -1 },
		func(c *bonus.Accrue) { c.Points = bonus.MaxPoints + 1 },
	} {
		cmd := w.command("alice", 1, "k")
		change(&cmd)
		w.refused(cmd, fault.InvalidRequest)
	}
	w.mustAccrue(w.command(strings.Repeat("!~", 32), bonus.MaxPoints, "k"))
}

// refusesOverflow fills the ledger by an order that is worth as many points as a wallet holds; one less than can be issued.
func refusesOverflow(_ *testing.T, w *world) {
	w.mustFill(1)
	w.refused(w.command("carol", 1, ""), fault.InvalidRequest)
	cmd := w.command("bob", 2, "k")
	w.refused(cmd, fault.InvalidRequest)
	cmd.Points = 1
	w.mustAccrue(cmd)
	w.refused(w.command("bob", 1, ""), fault.InvalidRequest)
	w.mustHave("bob", 1)
	w.mustHave("carol", math.MaxInt64)
}

// mustFill accrues to carol what leaves that much room in the account that points come from.
func (w *world) mustFill(room int64) {
	w.t.Helper()
	w.retire(w.campaign)
	all := w.mustCreate(percent(10_000))
	o := w.order("carol")
	o.Total = money.Money{Amount: math.MaxInt64 - room + 1, Currency: "JPY"}
	w.mustEvaluate(o)
	w.retire(all)
}

// oneAccrual wants one of many parallel commands to accrue and all others to repeat it, or to be told that it is in
// progress.
func oneAccrual(t *testing.T, w *world, command func(i int) (*bonus.Service, bonus.Accrue)) {
	accrued, errs := make([]bonus.Accrued, 50), make([]error, 50)
	inParallel(len(accrued), func(i int) {
		service, cmd := command(i)
		accrued[i], errs[i] = w.accrue(service, cmd)
	})
	created, ids := 0, map[uuid.UUID]bool{}
	for i, err := range errs {
		switch {
		case err == nil:
			ids[accrued[i].AccrualID] = true
			if !accrued[i].Repeat {
				created++
			}
		case fault.CodeOf(err) != fault.RequestInProgress:
			t.Error(err)
		}
	}
	if created != 1 || len(ids) != 1 {
		t.Errorf("%d accrued, ids %v", created, ids)
	}
	w.mustHave("alice", 100)
}

func oneAccrualOfRepeats(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	oneAccrual(t, w, func(int) (*bonus.Service, bonus.Accrue) { return w.service, cmd })
}

func oneAccrualAcrossProcesses(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	oneAccrual(t, w, func(i int) (*bonus.Service, bonus.Accrue) { return w.processes()[i%2], cmd })
}

// oneAccrualOfParallelKeys sends different requests that mean the same, each from processes that don't know of the others.
func oneAccrualOfParallelKeys(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "")
	services := w.processes()
	for range 6 {
		services = append(services, w.newService(w.engine.Store))
	}
	oneAccrual(t, w, func(i int) (*bonus.Service, bonus.Accrue) {
		own := cmd
		own.Key = idempotency.Key(uuid.NewString())
		return services[i%len(services)], own
	})
}

func (w *world) processes() []*bonus.Service { return []*bonus.Service{w.service, w.other} }
