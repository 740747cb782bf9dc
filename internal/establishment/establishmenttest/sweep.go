package establishmenttest

import (
	"context"
	"testing"

	"kuhnya/internal/establishment"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
)

func testSweep(t *testing.T, open func(t *testing.T) establishment.Store) {
	t.Run("publishes what nobody presses again, in order and once", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(Away)
		d.refused(o, lifecycle.Accept, fault.PublishFailed)
		d.refused(o, lifecycle.Start, fault.PublishFailed)
		d.sweeper.Sweep(d.ctx)
		d.haveSteps(o, "accepted", "cooking")
		d.same("presses that kitchen could not be told of", int64(2), d.service.Untold())
		d.same("steps swept", int64(0), d.sweeper.Sent())
		d.broker.Play(nil)
		d.sweeper.Sweep(d.ctx)
		d.sweeper.Sweep(d.ctx)
		d.arrived(lifecycle.Accepted, lifecycle.Cooking)
		d.haveSteps(o, "+accepted", "+cooking")
		d.same("steps swept", int64(2), d.sweeper.Sent())
		d.same("published", true, d.ticket(o).Published)
	})

	t.Run("sends nothing that kitchen overruled", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(Away)
		d.refused(o, lifecycle.Reject, fault.PublishFailed)
		d.merge(change(o, 2, lifecycle.Cancelled, ""))
		d.broker.Play(nil)
		d.sweeper.Sweep(d.ctx)
		d.arrived()
	})

	t.Run("stops early while the broker is away", func(t *testing.T) {
		d := openDesk(t, open(t))
		d.waiting(100)
		d.broker.Tried()
		d.sweeper.Sweep(d.ctx)
		if tried := d.broker.Tried(); tried == 0 || tried > 20 {
			t.Errorf("a sweep tried %d of 100 orders", tried)
		}
		d.broker.Play(nil)
		d.sweeper.Sweep(d.ctx)
		d.same("records", 100, len(d.broker.Take()))
		backlog, err := d.store.Backlog(d.ctx)
		if err != nil || backlog != (establishment.Backlog{}) {
			t.Errorf("backlog %+v, %v", backlog, err)
		}
	})

	t.Run("gets past orders that can't be sent", func(t *testing.T) {
		d := openDesk(t, open(t))
		stuck := map[string]bool{}
		for _, o := range d.waiting(20) {
			stuck[o.OrderID.String()] = true
		}
		d.waiting(5)
		d.broker.Play(func(_ context.Context, r Record) (bool, error) {
			if stuck[r.OrderID.String()] {
				return false, errAway
			}
			return true, nil
		})
		for range 4 {
			d.sweeper.Sweep(d.ctx)
		}
		d.same("records", 5, len(d.broker.Take()))
	})
}

// waiting returns n orders that were accepted while the broker was away.
func (d *desk) waiting(n int) (orders []establishment.Placed) {
	d.Helper()
	d.broker.Play(Away)
	for range n {
		o := d.placed()
		d.refused(o, lifecycle.Accept, fault.PublishFailed)
		orders = append(orders, o)
	}
	return orders
}
