package establishmenttest

import (
	"testing"

	"kuhnya/internal/establishment"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/trace"
)

func testTrace(t *testing.T, open func(t *testing.T) establishment.Store) {
	press := func(d *desk, o establishment.Placed, action lifecycle.Action) (traceparent string, err error) {
		traceparent = trace.New()
		_, err = d.service.Advance(d.ctx, establishment.Press{
			OrderID: o.OrderID, EstablishmentID: o.EstablishmentID, Action: action, Reason: "sold out", Trace: traceparent,
		})
		return traceparent, err
	}

	t.Run("a step has the trace of the press that made it, whoever sends it", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.broker.Play(Away)
		accepted, err := press(d, o, lifecycle.Accept)
		if fault.CodeOf(err) != fault.PublishFailed {
			t.Fatal(err)
		}
		_, _ = press(d, o, lifecycle.Accept)
		d.broker.Play(nil)
		d.sweeper.Sweep(d.ctx)
		started, _ := press(d, o, lifecycle.Start)
		_, _ = press(d, o, lifecycle.Start)
		records := d.arrived(lifecycle.Accepted, lifecycle.Cooking, lifecycle.Cooking)
		d.same("traces", []string{accepted, started, started}, []string{records[0].Trace, records[1].Trace, records[2].Trace})
	})

	t.Run("a status that kitchen brought has no step, so it has the trace of its press", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.merge(change(o, 2, lifecycle.Rejected, "accept_timeout"))
		pressed, _ := press(d, o, lifecycle.Reject)
		d.same("trace", pressed, d.arrived(lifecycle.Rejected)[0].Trace)
	})

	t.Run("a press without a trace works", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		_, err := d.service.Advance(d.ctx, establishment.Press{OrderID: o.OrderID, EstablishmentID: Place, Action: lifecycle.Accept})
		if err != nil {
			t.Fatal(err)
		}
		d.same("trace", "", d.arrived(lifecycle.Accepted)[0].Trace)
	})
}
