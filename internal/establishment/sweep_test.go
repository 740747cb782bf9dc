package establishment_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/establishment"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/establishment/establishmenttest"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
)

// board is a service on SQLite inside a bubble: the database's clock is the bubble's.
type board struct {
	*testing.T
	broker  establishmenttest.Broker
	log     bytes.Buffer
	store   establishment.Store
	service *establishment.Service
}

// inBubble runs f with a service and ends the service with it.
func inBubble(t *testing.T, f func(b *board)) {
	synctest.Test(t, func(t *testing.T) {
		db := databasetest.SQLite(t, establishmentsql.Migrations())
		b := &board{T: t, store: establishmentsql.NewSQLite(db)}
		b.service = establishment.New(b.store, establishment.Options{
			Topics: event.Topics{Prefix: "test."}, Publisher: &b.broker, Classify: database.BatchClass,
			Log: b.newLog(),
		})
		f(b)
		if err := b.service.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// placed returns a new order.
func (b *board) placed() uuid.UUID {
	b.Helper()
	id := uuid.Must(uuid.NewV7())
	fact := establishment.Placed{OrderID: id, EstablishmentID: establishmenttest.Place}
	if err := b.service.Merge(b.Context(), []establishment.Fact{fact})[0]; err != nil {
		b.Fatal(err)
	}
	return id
}

func (b *board) accept(id uuid.UUID) error {
	_, err := b.service.Advance(b.Context(), establishment.Press{
		OrderID: id, EstablishmentID: establishmenttest.Place, Action: lifecycle.Accept,
	})
	return err
}

// acceptUnsent accepts an order while the broker is away.
func (b *board) acceptUnsent(id uuid.UUID) {
	b.Helper()
	b.broker.Play(establishmenttest.Away)
	if err := b.accept(id); fault.CodeOf(err) != fault.PublishFailed {
		b.Fatalf("accept: %v, want publish_failed", err)
	}
	b.broker.Play(nil)
	b.broker.Tried()
}

// sweep runs a sweeper until the returned function is called.
func (b *board) sweep() (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	sweeper := establishment.NewSweeper(b.service, establishment.SweepOptions{RepublishAfter: establishment.DefaultRepublishAfter})
	go func() {
		defer close(ended)
		sweeper.Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// pass lets time pass and whatever it brings happen.
func pass(d time.Duration) {
	time.Sleep(d) // of the bubble's clock
	synctest.Wait()
}

func (b *board) arrived(want int) {
	b.Helper()
	if got := len(b.broker.Take()); got != want {
		b.Errorf("%d records, want %d", got, want)
	}
}

func TestSweeper(t *testing.T) {
	t.Run("sends a step when it is five seconds old", func(t *testing.T) {
		inBubble(t, func(b *board) {
			b.acceptUnsent(b.placed())
			defer b.sweep()()
			pass(4900 * time.Millisecond)
			b.arrived(0)
			pass(200 * time.Millisecond)
			b.arrived(1)
			pass(time.Minute)
			b.arrived(0)
		})
	})

	t.Run("sends at its start what a process before it left", func(t *testing.T) {
		inBubble(t, func(b *board) {
			b.acceptUnsent(b.placed())
			pass(time.Hour)
			defer b.sweep()()
			synctest.Wait()
			b.arrived(1)
		})
	})

	t.Run("tries each second through an outage and logs it once", func(t *testing.T) {
		inBubble(t, func(b *board) {
			b.acceptUnsent(b.placed())
			b.broker.Play(establishmenttest.Away)
			stop := b.sweep()
			pass(10500 * time.Millisecond)
			if tried := b.broker.Tried(); tried != 6 { // at 5, 6, … 10 s
				b.Errorf("tried %d times", tried)
			}
			b.broker.Play(nil)
			pass(2 * time.Second)
			b.arrived(1)
			stop()
			told := map[any]int{}
			for _, line := range b.lines() {
				told[line["msg"]]++
			}
			if told["steps can't be sent, trying again"] != 1 || told["steps can be sent again"] != 1 {
				b.Errorf("log: %v", told)
			}
		})
	})

	t.Run("ends with its context although the broker never answers", func(t *testing.T) {
		inBubble(t, func(b *board) {
			b.acceptUnsent(b.placed())
			b.broker.Play(establishmenttest.Silent)
			stop := b.sweep()
			pass(5500 * time.Millisecond)
			before := time.Now()
			stop()
			if took := time.Since(before); took > 0 {
				b.Errorf("stopped after %v", took)
			}
		})
	})
}

func TestAdvance(t *testing.T) {
	t.Run("gives up after three seconds without an answer", func(t *testing.T) {
		inBubble(t, func(b *board) {
			id := b.placed()
			b.broker.Play(establishmenttest.Silent)
			before := time.Now()
			if err := b.accept(id); fault.CodeOf(err) != fault.PublishFailed {
				b.Errorf("accept: %v, want publish_failed", err)
			}
			if took := time.Since(before); took != 3*time.Second {
				b.Errorf("took %v", took)
			}
		})
	})

	t.Run("the sweep waits for a press that is sending", func(t *testing.T) {
		inBubble(t, func(b *board) {
			id := b.placed()
			b.acceptUnsent(id)
			pass(6 * time.Second)
			answer := make(chan struct{})
			b.broker.Play(func(context.Context, establishmenttest.Record) (bool, error) {
				<-answer
				return true, nil
			})
			pressed := make(chan error)
			go func() { pressed <- b.accept(id) }()
			synctest.Wait()
			defer b.sweep()()
			pass(2 * time.Second)
			close(answer)
			if err := <-pressed; err != nil {
				b.Errorf("accept: %v", err)
			}
			synctest.Wait()
			b.arrived(1)
		})
	})

	t.Run("marks what was acknowledged even when its time is over", func(t *testing.T) {
		inBubble(t, func(b *board) {
			id := b.placed()
			ctx, cancel := context.WithCancel(b.Context())
			b.broker.Play(func(context.Context, establishmenttest.Record) (bool, error) {
				cancel()
				return true, nil
			})
			_, _ = b.service.Advance(ctx, establishment.Press{
				OrderID: id, EstablishmentID: establishmenttest.Place, Action: lifecycle.Accept,
			})
			if steps, err := b.store.StepsToSend(b.Context(), id); err != nil || len(steps) > 0 {
				b.Errorf("unsent steps %v, %v", steps, err)
			}
		})
	})
}
