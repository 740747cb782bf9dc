package establishmenttest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kuhnya/internal/establishment"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
)

func testPress(t *testing.T, open func(t *testing.T) establishment.Store) {
	t.Run("stores a step, publishes it under its key and marks it", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		ticket := d.press(o, lifecycle.Accept)
		d.same("status", lifecycle.Accepted, ticket.Status)
		d.same("entered", []lifecycle.Status{lifecycle.Placed, lifecycle.Accepted}, ticket.Entered)
		d.same("published", true, ticket.Published)
		d.same("presses that kitchen could not be told of", int64(0), d.service.Untold())
		d.same("stored", ticket, d.ticket(o))
		d.haveSteps(o, "+accepted")
		d.same("record", Record{
			EstablishmentStatus: event.EstablishmentStatus{OrderID: o.OrderID, EstablishmentID: Place, Status: lifecycle.Accepted},
			Topic:               "test.establishment-statuses", RecordKey: o.OrderID.String(), Type: event.EstablishmentStatusType,
			EventID: d.steps(o)[0].EventID.String(), Key: o.OrderID.String() + ":accepted", Trace: d.steps(o)[0].Trace,
		}, d.arrived(lifecycle.Accepted)[0])
	})

	t.Run("carries an order to completed", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.press(o, lifecycle.Accept, lifecycle.Start, lifecycle.MakeReady, lifecycle.Complete)
		d.stands(o, lifecycle.Completed)
		d.haveSteps(o, "+accepted", "+cooking", "+ready", "+completed")
		d.arrived(lifecycle.Accepted, lifecycle.Cooking, lifecycle.Ready, lifecycle.Completed)
	})

	t.Run("keeps a reason where one is needed and nowhere else", func(t *testing.T) {
		d := openDesk(t, open(t))
		for action, want := range map[lifecycle.Action]string{lifecycle.Accept: "", lifecycle.Reject: "because"} {
			o := d.placed()
			ticket, err := d.service.Advance(d.ctx, establishment.Press{
				OrderID: o.OrderID, EstablishmentID: Place, Action: action, Reason: "because",
			})
			if err != nil {
				t.Fatal(err)
			}
			d.same("reason of the ticket", want, ticket.Reason)
			d.same("reason of the record", want, d.broker.Take()[0].Reason)
		}
	})

	t.Run("refuses what has no meaning and stores nothing", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		for name, c := range map[string]struct {
			press establishment.Press
			want  fault.Code
		}{
			"unknown action":    {establishment.Press{Action: "fly"}, fault.InvalidRequest},
			"absent reason":     {establishment.Press{Action: lifecycle.Reject}, fault.InvalidRequest},
			"blank reason":      {establishment.Press{Action: lifecycle.Cancel, Reason: " \n"}, fault.InvalidRequest},
			"reason of 501":     {establishment.Press{Action: lifecycle.Reject, Reason: strings.Repeat("я", 501)}, fault.InvalidRequest},
			"unknown order":     {establishment.Press{Action: lifecycle.Accept, OrderID: uuid.Must(uuid.NewV7())}, fault.NotFound},
			"foreign order":     {establishment.Press{Action: lifecycle.Accept, EstablishmentID: uuid.Must(uuid.NewV7())}, fault.NotFound},
			"skipped status":    {establishment.Press{Action: lifecycle.Start}, fault.InvalidTransition},
			"cancel of placed":  {establishment.Press{Action: lifecycle.Cancel, Reason: "no gas"}, fault.InvalidTransition},
			"longest reason ok": {establishment.Press{Action: lifecycle.Cancel, Reason: strings.Repeat("я", 500)}, fault.InvalidTransition},
		} {
			if c.press.OrderID == uuid.Nil {
				c.press.OrderID = o.OrderID
			}
			if c.press.EstablishmentID == uuid.Nil {
				c.press.EstablishmentID = Place
			}
			if _, err := d.service.Advance(d.ctx, c.press); fault.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
		d.stands(o, lifecycle.Placed)
		d.haveSteps(o)
		d.arrived()
	})

	t.Run("says what is possible instead", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		d.press(o, lifecycle.Accept)
		_, err := d.advance(o, lifecycle.Complete)
		var refusal *fault.Error
		if !errors.As(err, &refusal) {
			t.Fatalf("complete: %v", err)
		}
		d.same("fields", map[string]any{
			"current": lifecycle.Accepted, "allowed": []lifecycle.Status{lifecycle.Cooking, lifecycle.Cancelled},
		}, refusal.Fields)
	})

	t.Run("makes one step of presses at the same time", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		var tablets sync.WaitGroup
		for range 20 {
			tablets.Go(func() {
				if _, err := d.advance(o, lifecycle.Accept); err != nil {
					t.Errorf("accept: %v", err)
				}
			})
		}
		tablets.Wait()
		d.haveSteps(o, "+accepted")
		step := d.steps(o)[0]
		for _, r := range d.broker.Take() {
			d.same("event id", step.EventID.String(), r.EventID)
		}
	})

	t.Run("lets one of two contrary presses win", func(t *testing.T) {
		d := openDesk(t, open(t))
		o := d.placed()
		errs := make([]error, 2)
		var tablets sync.WaitGroup
		for i, action := range []lifecycle.Action{lifecycle.Accept, lifecycle.Reject} {
			tablets.Go(func() { _, errs[i] = d.advance(o, action) })
		}
		tablets.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || fault.CodeOf(errors.Join(errs...)) != fault.InvalidTransition {
			t.Errorf("accept: %v, reject: %v, want one invalid_transition", errs[0], errs[1])
		}
		d.same("steps", 1, len(d.steps(o)))
	})
}
