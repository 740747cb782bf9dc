package bonustest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/bonus"
	"kuhnya/internal/fault"
)

// saysInProgress holds the first request up: whatever shares its client key or its business key is told so at once.
func saysInProgress(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	var first bonus.Accrued
	var started sync.WaitGroup
	w.whileHeld(func() {
		started.Go(func() {
			var err error
			if first, err = w.accrue(w.service, cmd); err != nil {
				t.Error(err)
			}
		})
		w.awaitUndecided(2)
		for _, change := range []func(*bonus.Accrue){
			func(*bonus.Accrue) {},
			func(c *bonus.Accrue) { c.Points++ },
			func(c *bonus.Accrue) { c.OrderID = uuid.New() },
			func(c *bonus.Accrue) { c.Key = "another" },
			func(c *bonus.Accrue) { c.Key, c.Points = "another", 1 },
			func(c *bonus.Accrue) { c.Key = "" },
			func(c *bonus.Accrue) { c.Caller, c.Key = "service:other", "k" },
		} {
			other := cmd
			change(&other)
			w.refused(other, fault.RequestInProgress)
		}
		if n := w.service.Undecided(); n != 2 {
			t.Errorf("%d keys are claimed after the refusals, want the 2 of the first request", n)
		}
	})
	started.Wait()
	w.mustRepeat(cmd, first)
	cmd.Key = "another"
	if again := w.mustAccrue(cmd); again.AccrualID != first.AccrualID || again.Status != 200 {
		t.Errorf("another key: %+v", again)
	}
	if n := w.service.Undecided(); n != 0 {
		t.Errorf("%d keys are claimed after all is decided", n)
	}
}

// replaysDuringAReplay holds a replay up: others need not wait for it, since what is saved is final.
func replaysDuringAReplay(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	first := w.mustAccrue(cmd)
	var replay sync.WaitGroup
	w.whileHeld(func() {
		replay.Go(func() {
			if again, err := w.accrue(w.service, cmd); err != nil || !again.Repeat {
				t.Errorf("%+v, %v", again, err)
			}
		})
		w.awaitUndecided(2)
		w.mustRepeat(cmd, first)
		other := cmd
		other.Points++
		w.refused(other, fault.IdempotencyKeyReused)
		other.Key = "another"
		w.refused(other, fault.RequestInProgress)
	})
	replay.Wait()
}

func keepsTheAnswerOfAClientThatLeft(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	w.users["alice"] = true
	ctx, leave := context.WithCancel(w.ctx)
	w.whileHeld(func() {
		var client sync.WaitGroup
		client.Go(func() {
			if _, err := w.service.Accrue(ctx, cmd); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		w.awaitUndecided(2)
		leave()
		client.Wait()
		if n := w.service.Undecided(); n != 2 {
			t.Errorf("%d keys are claimed while the command is undecided, want 2", n)
		}
	})
	w.awaitUndecided(0)
	if again := w.mustAccrue(cmd); again.Status != 201 || !again.Repeat {
		t.Errorf("retry: %+v", again)
	}
	if _, err := w.service.Accrue(ctx, w.command("alice", 1, "k2")); !errors.Is(err, context.Canceled) || w.service.Undecided() != 0 {
		t.Errorf("a client that has left before: %v, %d keys claimed", err, w.service.Undecided())
	}
}

// refusalHarmsNoNeighbour has commands share a transaction, some of which are refused.
func refusalHarmsNoNeighbour(t *testing.T, w *world) {
	taken := w.command("alice", 100, "taken")
	w.mustAccrue(taken)
	commands := make([]bonus.Accrue, 30)
	for i := range commands {
		commands[i] = w.command("alice", 1, idempotency.Key(fmt.Sprint(i)))
	}
	want := map[int]fault.Code{5: fault.InvalidRequest, 11: fault.AccrualConflict, 17: fault.IdempotencyKeyReused}
	commands[5].CampaignID = uuid.New()
	commands[11].BusinessKey = taken.BusinessKey
	commands[17].Key = "taken"
	errs := make([]error, len(commands))
	var clients sync.WaitGroup
	w.whileHeld(func() {
		for i := range commands {
			clients.Go(func() { _, errs[i] = w.accrue(w.service, commands[i]) })
		}
		w.awaitUndecided(2 * len(commands))
	})
	clients.Wait()
	for i, err := range errs {
		if fault.CodeOf(err) != want[i] || want[i] == "" && err != nil {
			t.Errorf("command %d: %v, want %q", i, err, want[i])
		}
	}
	w.mustHave("alice", 100+int64(len(commands)-len(want)))
}

// losesTheBusinessKey has another process accrue under another key after this one has looked.
func losesTheBusinessKey(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "mine")
	rival := cmd
	rival.Key = "rival's"
	var first bonus.Accrued
	loser := w.outrunBy(func() { first = w.mustAccrue(rival) })
	accrued, err := w.accrue(loser, cmd)
	w.must(err)
	if accrued.AccrualID != first.AccrualID || accrued.Status != 200 || !accrued.Repeat {
		t.Errorf("got %+v, want a repeat of %s", accrued, first.AccrualID)
	}
	w.mustRepeat(cmd, accrued)
	w.mustHave("alice", 100)
}

// losesTheClientKey has another process take the client's key for another order: nothing of this accrual may remain.
func losesTheClientKey(_ *testing.T, w *world) {
	cmd, rival := w.command("alice", 100, "k"), w.command("alice", 1, "k")
	loser := w.outrunBy(func() { w.mustAccrue(rival) })
	_, err := w.accrue(loser, cmd)
	w.mustRefuse(err, fault.IdempotencyKeyReused)
	w.mustHave("alice", 1)
	cmd.Key = "another"
	w.mustAccrue(cmd)
	w.mustHave("alice", 101)
}
