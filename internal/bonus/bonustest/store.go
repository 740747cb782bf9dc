package bonustest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/bonus"
)

// insertsLeaveOut is the promise that M6 rests on: an insert under a key that is taken inserts nothing and says so.
func insertsLeaveOut(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	taken := bonus.Accrual{
		ID: w.mustAccrue(cmd).AccrualID, BusinessKey: cmd.BusinessKey, Points: 1, Origin: bonus.FromAPI, CreatedAt: w.latest,
	}
	o := w.order("alice")
	w.mustEvaluate(o)
	keyed, _, err := w.service.CreateCampaign(w.ctx, bonus.CreateCampaign{Terms: fixed(1), Caller: "operator:olga", Key: "k"})
	w.must(err)

	sameKey, sameID, free := taken, taken, taken
	sameKey.ID = uuid.New()
	sameID.OrderID = uuid.New()
	free.ID, free.OrderID = uuid.New(), uuid.New()
	answer := bonus.Answer{CallerKey: bonus.CallerKey{Caller: caller, Key: "k"}, AccrualID: taken.ID, Status: 200, Body: []byte("{}")}
	freeAnswer := answer
	freeAnswer.Key = "K"
	evaluation := bonus.Evaluation{OrderID: o.OrderID, UserID: "alice", Total: rub(1)}
	freeEvaluation := evaluation
	freeEvaluation.OrderID = uuid.New()
	sameCampaignKey, sameCampaignID, freeCampaign := keyed, keyed, keyed
	sameCampaignKey.ID = uuid.New()
	sameCampaignID.Key = "another"
	freeCampaign.ID, freeCampaign.Key = uuid.New(), "another"

	err = w.engine.Store.Write(w.ctx, func(tx bonus.Tx) error {
		accruals, err1 := tx.InsertAccruals([]bonus.Accrual{sameKey, free, sameID})
		w.same("accruals", []uuid.UUID{free.ID}, accruals)
		answers, err2 := tx.InsertAnswers([]bonus.Answer{freeAnswer, answer})
		w.same("answers", []bonus.CallerKey{freeAnswer.CallerKey}, answers)
		evaluations, err3 := tx.InsertEvaluations([]bonus.Evaluation{evaluation, freeEvaluation})
		w.same("evaluations", []uuid.UUID{freeEvaluation.OrderID}, evaluations)
		for campaign, want := range map[*bonus.Campaign]bool{&sameCampaignKey: false, &sameCampaignID: false, &freeCampaign: true} {
			if inserted, err := tx.InsertCampaign(*campaign); err != nil || inserted != want {
				t.Errorf("campaign %s under key %s: inserted %v, %v", campaign.ID, campaign.Key, inserted, err)
			}
		}
		return errors.Join(err1, err2, err3, errStop)
	})
	if !errors.Is(err, errStop) {
		t.Error(err)
	}
}

func nothingRemains(t *testing.T, w *world) {
	cmd, o := w.command("alice", 100, "k"), w.order("bob")
	err := w.engine.Store.Write(w.ctx, func(tx bonus.Tx) error {
		now, err := tx.Now()
		a := bonus.Accrual{ID: uuid.New(), BusinessKey: cmd.BusinessKey, Points: 100, Origin: bonus.FromAPI, CreatedAt: now}
		_, accruals := tx.InsertAccruals([]bonus.Accrual{a})
		_, answers := tx.InsertAnswers([]bonus.Answer{{CallerKey: bonus.CallerKey{Caller: caller, Key: "k"}, AccrualID: a.ID, Body: []byte("{}")}})
		_, evaluations := tx.InsertEvaluations([]bonus.Evaluation{{OrderID: o.OrderID, UserID: "bob", Total: o.Total}})
		balances := tx.AddBalances(map[bonus.Account]int64{bonus.WalletOf("alice"): 100})
		return errors.Join(err, accruals, answers, evaluations, balances, errStop)
	})
	if !errors.Is(err, errStop) {
		t.Error(err)
	}
	w.mustHave("alice", 0)
	if w.evaluated(o) {
		t.Error("an evaluation remained")
	}
	if first := w.mustAccrue(cmd); first.Repeat {
		t.Error("a key remained")
	}
}

func listsCampaigns(_ *testing.T, w *world) {
	want := []bonus.Campaign{w.campaign}
	for range 4 {
		want = append(want, w.mustCreate(rich()))
	}
	want[2] = w.mustChange(want[2], func(t *bonus.Terms) { t.Name = "Changed" })
	slices.Reverse(want)
	var listed []bonus.Campaign
	for before := uuid.Nil; ; before = listed[len(listed)-1].ID {
		page, err := w.engine.Store.Campaigns(w.ctx, before, 2)
		w.must(err)
		if len(page) == 0 {
			break
		}
		listed = append(listed, page...)
	}
	w.same("campaigns", want, listed)
	_, found, err := w.engine.Store.Campaign(w.ctx, uuid.New())
	w.must(err)
	w.same("found", false, found)
}

func listsEntries(_ *testing.T, w *world) {
	var want []uuid.UUID
	for i := range 5 {
		want = append(want, w.mustAccrue(w.command("alice", int64(i+1), "")).AccrualID)
		w.mustAccrue(w.command("bob", 100, ""))
	}
	slices.Reverse(want)
	var listed []uuid.UUID
	for before := uuid.Nil; ; {
		page, err := w.engine.Store.Entries(w.ctx, "alice", before, 2)
		w.must(err)
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			listed, before = append(listed, e.Accrual.ID), e.ID
		}
	}
	w.same("accruals", want, listed)
	w.mustHave("nobody", 0)
}

func versionsInForce(_ *testing.T, w *world) {
	c := w.mustCreate(rich())
	changed := w.mustChange(c, func(t *bonus.Terms) { t.EndsAt, t.EstablishmentID = nil, nil })
	first := bonus.Version{CampaignID: c.ID, No: 1, Terms: c.Terms, ValidFrom: c.UpdatedAt}
	second := bonus.Version{CampaignID: c.ID, No: 2, Terms: changed.Terms, ValidFrom: changed.UpdatedAt}
	before, after := first.ValidFrom.Add(-time.Microsecond), second.ValidFrom.AddDate(100, 0, 0)
	last := second.ValidFrom.Add(-time.Microsecond) // of the first one
	for _, at := range []struct {
		from, until time.Time
		want        []bonus.Version
	}{
		{before, before, nil},
		{before, first.ValidFrom, []bonus.Version{first}},
		{first.ValidFrom, first.ValidFrom, []bonus.Version{first}},
		{last, last, []bonus.Version{first}},
		{last, second.ValidFrom, []bonus.Version{first, second}},
		{before, after, []bonus.Version{first, second}},
		{second.ValidFrom, second.ValidFrom, []bonus.Version{second}},
		{after, after, []bonus.Version{second}},
	} {
		var got []bonus.Version
		w.must(w.engine.Store.Write(w.ctx, func(tx bonus.Tx) error {
			versions, err := tx.Versions(at.from, at.until)
			for _, v := range versions {
				if v.CampaignID == c.ID {
					got = append(got, v)
				}
			}
			return err
		}))
		slices.SortFunc(got, func(a, b bonus.Version) int { return int(a.No - b.No) })
		if diff := cmp.Diff(at.want, got); diff != "" {
			w.t.Errorf("versions from %s until %s (-want +got):\n%s", at.from, at.until, diff)
		}
	}
}
