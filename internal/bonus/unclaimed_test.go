package bonus_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/internal/bonus"
	"kuhnya/internal/bonus/bonussql"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
)

// counter is a service over a real store, with one campaign. It counts what it is told about batches, and can't encode
// accruals of 13 points.
type counter struct {
	*bonus.Service
	db       *database.SQLite
	store    bonus.Store
	outbox   messagesql.Outbox
	campaign uuid.UUID

	mu      sync.Mutex     // each group tells from a goroutine of its own
	batches map[string]int // commands by group
	runs    int
}

func newCounter(t *testing.T) *counter {
	db := databasetest.SQLite(t, bonussql.Migrations(), messagesql.Migrations())
	c := &counter{db: db, store: bonussql.NewSQLite(db), outbox: messagesql.NewOutbox(db), batches: map[string]int{}}
	c.Service = bonus.New(c.store, bonus.Options{
		Topics: event.Topics{}, Classify: database.BatchClass, Wake: func() {},
		Observe: c.observe,
		Encode: func(a bonus.Accrual) ([]byte, error) {
			if a.Points == 13 {
				return nil, errors.New("superstition")
			}
			return fmt.Append(nil, uuid.New()), nil
		},
	})
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	campaign, _, err := c.CreateCampaign(t.Context(), bonus.CreateCampaign{Terms: bonus.Terms{
		Name: "Thank you", Kind: bonus.Fixed, Value: 1, Timezone: "UTC", Active: true, StartsAt: time.Unix(0, 0),
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.campaign = campaign.ID
	return c
}

func (c *counter) observe(group string, s batch.Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches[group] += s.Size
	c.runs += s.Runs
}

func (c *counter) command() bonus.Accrue {
	return bonus.Accrue{
		BusinessKey: bonus.BusinessKey{UserID: "alice", CampaignID: c.campaign, OrderID: uuid.New()}, Points: 100,
		Caller: "service:erp", Key: "k",
	}
}

// TestBatch_resolves_duplicates_in_memory: claims only keep duplicates out of a batch. Without them it decides the same.
func TestBatch_resolves_duplicates_in_memory(t *testing.T) {
	c := newCounter(t)
	cmd := c.command()
	other := func(change func(*bonus.Accrue)) bonus.Accrue {
		another := cmd
		change(&another)
		return another
	}
	commands := []bonus.Accrue{
		cmd,
		cmd,
		other(func(a *bonus.Accrue) { a.Points++ }),
		other(func(a *bonus.Accrue) { a.Key = "k2" }),
		other(func(a *bonus.Accrue) { a.Key = "k2" }),
		other(func(a *bonus.Accrue) { a.Key, a.Points = "k2", 1 }),
		other(func(a *bonus.Accrue) { a.Key, a.Points = "k3", 1 }),
		other(func(a *bonus.Accrue) { a.Key = "" }),
		other(func(a *bonus.Accrue) { a.Key, a.OrderID = "k3", uuid.New() }),
		other(func(a *bonus.Accrue) { a.Caller, a.OrderID = "service:other", uuid.New() }),
	}
	outcomes := c.AccrueUnclaimed(t.Context(), commands...)
	type outcome struct {
		Status int
		Repeat bool
		Code   fault.Code
		First  bool // it shows the first command's accrual
	}
	var got []outcome
	for _, o := range outcomes {
		first := o.Value.AccrualID != uuid.Nil && o.Value.AccrualID == outcomes[0].Value.AccrualID
		got = append(got, outcome{o.Value.Status, o.Value.Repeat, fault.CodeOf(o.Err), first})
	}
	want := []outcome{
		{201, false, "", true},
		{201, true, "", true},
		{0, false, fault.IdempotencyKeyReused, false},
		{200, true, "", true},
		{200, true, "", true},
		{0, false, fault.IdempotencyKeyReused, false},
		{0, false, fault.AccrualConflict, false},
		{200, true, "", true},
		{201, false, "", false},
		{201, false, "", false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	for _, pair := range [][2]int{{0, 1}, {3, 4}} {
		first, again := outcomes[pair[0]].Value, outcomes[pair[1]].Value
		if string(first.Body) != string(again.Body) {
			t.Errorf("command %d got %s, its repeat %s", pair[0], first.Body, again.Body)
		}
	}
	c.mustHave(t, 300, 3)
	if err := c.Close(t.Context()); err != nil || c.runs != 1 { // the last batch is told after it was answered
		t.Errorf("%v, %d runs: the index had to say what the batch could have known", err, c.runs)
	}
}

// mustHave checks alice's wallet and the messages that were told.
func (c *counter) mustHave(t *testing.T, points, messages int64) {
	t.Helper()
	balance, err := c.store.Balance(t.Context(), "alice")
	if err != nil || balance != points {
		t.Errorf("balance %d, %v, want %d", balance, err, points)
	}
	depth, err := c.outbox.Depth(t.Context())
	if err != nil || depth.Waiting != messages {
		t.Errorf("%d messages, %v, want %d", depth.Waiting, err, messages)
	}
}

// TestBatch_books_nothing_of_what_can_not_be_answered: the answer is a part of the accrual, so without it there is none.
func TestBatch_books_nothing_of_what_can_not_be_answered(t *testing.T) {
	c := newCounter(t)
	unlucky := c.command()
	unlucky.Points = 13
	lucky := unlucky
	lucky.Points = 14
	outcomes := c.AccrueUnclaimed(t.Context(), unlucky, lucky, unlucky)
	if outcomes[0].Err == nil || outcomes[1].Err != nil || fault.CodeOf(outcomes[2].Err) != fault.IdempotencyKeyReused {
		t.Errorf("outcomes %v", outcomes)
	}
	c.mustHave(t, 14, 1)
}

// TestBatch_an_answer_that_can_not_be_read_harms_no_other is a row that some fault has spoilt.
func TestBatch_an_answer_that_can_not_be_read_harms_no_other(t *testing.T) {
	c := newCounter(t)
	spoilt, other := c.command(), c.command()
	other.Key = "k2"
	c.AccrueUnclaimed(t.Context(), spoilt)
	err := c.db.Write(t.Context(), func(conn *database.Conn) error {
		return conn.Exec(`UPDATE accrual_answers SET command_fingerprint = x'00'`)
	})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := c.AccrueUnclaimed(t.Context(), other, spoilt)
	if outcomes[0].Err != nil || outcomes[1].Err == nil {
		t.Errorf("outcomes %v", outcomes)
	}
	c.mustHave(t, 200, 2)
}

func TestObserve_is_told_which_group_decided(t *testing.T) {
	c := newCounter(t)
	c.AccrueUnclaimed(t.Context(), c.command(), c.command())
	order := bonus.Completed{OrderID: uuid.New(), UserID: "alice", EstablishmentID: uuid.New(), PlacedAt: time.Now()}
	order.Total.Currency = "RUB"
	if err := errors.Join(c.Evaluate(t.Context(), []bonus.Completed{order, order, order})...); err != nil {
		t.Error(err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]int{"accruals": 2, "evaluations": 3}, c.batches); diff != "" {
		t.Errorf("commands by group (-want +got):\n%s", diff)
	}
}
