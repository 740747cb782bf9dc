package establishmenttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/establishment"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
)

func testRepeat(t *testing.T, open func(t *testing.T) establishment.Store) {
	t.Run("a press stands while the broker is away, and the next one sends its step", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(Away)
		for range 2 {
			ticket := d.refused(o, lifecycle.Accept, fault.PublishFailed)
			d.same("status", lifecycle.Accepted, ticket.Status)
			d.same("published", false, ticket.Published)
			d.same("stored", ticket, d.ticket(o))
			d.haveSteps(o, "accepted")
		}
		d.broker.Play(nil)
		d.same("published", true, d.press(o, lifecycle.Accept).Published)
		d.haveSteps(o, "+accepted")
		d.arrived(lifecycle.Accepted)
	})

	t.Run("a lost answer is followed by the same key and event", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(LostAnswer)
		d.refused(o, lifecycle.Accept, fault.PublishFailed)
		d.broker.Play(nil)
		d.press(o, lifecycle.Accept)
		records := d.arrived(lifecycle.Accepted, lifecycle.Accepted)
		d.same("records", records[0], records[1])
		d.haveSteps(o, "+accepted")
	})

	t.Run("the current status is published once more", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		before := d.press(o, lifecycle.Accept)
		d.same("ticket", before, d.press(o, lifecycle.Accept))
		records := d.arrived(lifecycle.Accepted, lifecycle.Accepted)
		d.same("records", records[0], records[1])
		d.haveSteps(o, "+accepted")
		d.broker.Play(Away)
		ticket := d.refused(o, lifecycle.Accept, fault.PublishFailed)
		d.same("ticket", before, ticket)
		d.haveSteps(o, "+accepted")
	})

	t.Run("a status that kitchen brought is published under its key", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.merge(change(o, 2, lifecycle.Rejected, "accept_timeout"))
		d.press(o, lifecycle.Reject)
		record := d.arrived(lifecycle.Rejected)[0]
		d.same("reason", "accept_timeout", record.Reason)
		if _, err := uuid.Parse(record.EventID); err != nil {
			t.Errorf("event id: %v", err)
		}
		d.haveSteps(o)
	})

	t.Run("an older status sends nothing but what is unsent", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.press(o, lifecycle.Accept, lifecycle.Start)
		d.arrived(lifecycle.Accepted, lifecycle.Cooking)
		d.same("status", lifecycle.Cooking, d.press(o, lifecycle.Accept).Status)
		d.arrived()
		d.broker.Play(Away)
		d.refused(o, lifecycle.MakeReady, fault.PublishFailed)
		d.broker.Play(nil)
		d.same("status", lifecycle.Ready, d.press(o, lifecycle.Accept).Status)
		d.arrived(lifecycle.Ready)
		d.haveSteps(o, "+accepted", "+cooking", "+ready")
	})

	t.Run("two tablets: accept without an answer, start, accept again", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(LostAnswer)
		d.refused(o, lifecycle.Accept, fault.PublishFailed)
		d.broker.Play(nil)
		d.press(o, lifecycle.Start)
		d.same("status", lifecycle.Cooking, d.press(o, lifecycle.Accept).Status)
		d.arrived(lifecycle.Accepted, lifecycle.Accepted, lifecycle.Cooking)
		d.haveSteps(o, "+accepted", "+cooking")
	})

	t.Run("nothing later is sent before an earlier step", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(Away)
		d.refused(o, lifecycle.Accept, fault.PublishFailed)
		d.refused(o, lifecycle.Start, fault.PublishFailed)
		d.broker.Play(func(_ context.Context, r Record) (bool, error) {
			if r.Status == lifecycle.Cooking {
				return false, errAway
			}
			return true, nil
		})
		ticket := d.refused(o, lifecycle.MakeReady, fault.PublishFailed)
		d.same("status", lifecycle.Ready, ticket.Status)
		d.arrived(lifecycle.Accepted)
		d.haveSteps(o, "+accepted", "cooking", "ready")
		d.broker.Play(nil)
		d.press(o, lifecycle.MakeReady)
		d.arrived(lifecycle.Cooking, lifecycle.Ready)
	})

	t.Run("a refused button is a press of its own after kitchen overruled it", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(Away)
		d.refused(o, lifecycle.Reject, fault.PublishFailed)
		d.merge(change(o, 2, lifecycle.Accepted, ""))
		d.broker.Play(nil)
		d.refused(o, lifecycle.Reject, fault.InvalidTransition)
		d.arrived()
	})

	t.Run("a mark that can't be stored is no failure of the press", func(t *testing.T) {
		store := &unmarking{Store: open(t), err: errors.New("no space")}
		d := openDesk(t, store)
		o := d.placed()
		ticket := d.press(o, lifecycle.Accept)
		d.same("published", false, ticket.Published)
		d.haveSteps(o, "accepted")
		store.err = nil
		d.sweeper.Sweep(d.ctx)
		records := d.arrived(lifecycle.Accepted, lifecycle.Accepted)
		d.same("records", records[0], records[1])
		d.haveSteps(o, "+accepted")
	})
}

// unmarking is a store whose disk fails when steps are marked.
type unmarking struct {
	establishment.Store
	err error
}

func (s *unmarking) Write(ctx context.Context, f func(establishment.Tx) error) error {
	return s.Store.Write(ctx, func(tx establishment.Tx) error { return f(unmarkingTx{tx, s.err}) })
}

type unmarkingTx struct {
	establishment.Tx
	err error
}

func (t unmarkingTx) MarkSent(ids []uuid.UUID, at time.Time) error {
	if t.err != nil {
		return t.err
	}
	return t.Tx.MarkSent(ids, at)
}
