package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/consume"
	"kuhnya/internal/broker"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/ops"
	"kuhnya/outbox"
)

// planted is a process and, in each of its databases, what its overview is to find. No relay and no consumer gets to
// work on that: both are stopped before. So it is ended without waiting for work that nobody does.
func planted(t *testing.T) *App {
	t.Helper()
	a := started(t, t.TempDir())
	t.Cleanup(func() { must(t, errors.Join(a.server.Close(), a.close(context.Background()))) })
	for _, u := range a.units {
		u.halt()
		u.running.Wait()
		letters := messagesql.NewDeadLetters(u.db)
		for offset := range int64(3) {
			must(t, letters.Save(t.Context(), consume.DeadLetter{Group: u.name, Topic: "t", Offset: offset, FailedAt: time.Now()}))
		}
		must(t, u.db.Write(t.Context(), func(c *database.Conn) error {
			return errors.Join(
				messagesql.Appender{Conn: c}.AppendOutbox([]outbox.Message{{EventID: uuid.New(), Key: "k"}, {EventID: uuid.New(), Key: "\xff"}}),
				c.Exec(`UPDATE outbox SET created_at = created_at - 60000000 WHERE key = 'k'`),
			)
		}))
		lease, held, err := u.outbox.Acquire(t.Context(), "test", time.Minute)
		must(t, errors.Join(err, u.outbox.Park(t.Context(), lease, 2, "too large")))
		if !held {
			t.Fatal("the stopped relay has kept its lease")
		}
	}
	return a
}

func TestOverview(t *testing.T) {
	a := planted(t)
	sender, err := broker.NewSender(a.messaging.connection)
	must(t, err)
	defer sender.Close()
	for range 3 {
		must(t, sender.Send(t.Context(), outbox.Message{EventID: uuid.New(), Topic: a.config.Topics.EstablishmentStatuses(), Key: "k"}))
	}
	a.units[0].stuck = func(context.Context) (int64, error) { return 5, nil }
	a.units[1].backlog = func(context.Context) (int64, error) { return 6, nil }
	for i, want := range []struct{ lag, stuck, unsent int64 }{{3, 5, 0}, {0, 0, 6}} {
		u := a.units[i]
		o, err := u.overview(t.Context(), a.messaging)
		must(t, err)
		if o.Service != u.name || time.Since(o.At).Abs() > time.Hour || o.DeadLetters != (ops.DeadLetterCounts{Open: 3}) ||
			o.Outbox.Waiting != 1 || o.Outbox.Parked != 1 || o.Outbox.OldestAge < time.Minute || o.StuckOrders != want.stuck || o.UnsentSteps != want.unsent {
			t.Errorf("%s: %+v", u.name, o)
		}
		var lag int64
		for p, r := range o.Reading {
			if r.Topic != u.topics[0] || int(r.Partition) != p {
				t.Errorf("%s: partition %d is %+v", u.name, p, r)
			}
			lag += r.Lag()
		}
		if len(o.Reading) != broker.DefaultPartitions || lag != want.lag || o.ReadingError != "" {
			t.Errorf("%s: lag %d in %+v, error %q", u.name, lag, o.Reading, o.ReadingError)
		}
	}
}

// TestOverview_counts_the_orders_that_nobody_accepted asks kitchen's own store.
func TestOverview_counts_the_orders_that_nobody_accepted(t *testing.T) {
	a := planted(t)
	must(t, a.units[0].db.Write(t.Context(), func(c *database.Conn) error {
		return c.Exec(`INSERT INTO orders (id, user_id, establishment_id, status, total, currency, comment, seq, accept_deadline, created_at, updated_at)
			SELECT x'01', 'alice', id, 'placed', 0, 'RUB', '', 1, 0, 0, 0 FROM establishments LIMIT 1`)
	}))
	if o, err := a.units[0].overview(t.Context(), a.messaging); err != nil || o.StuckOrders != 1 {
		t.Errorf("%d stuck orders, error %v", o.StuckOrders, err)
	}
}

func TestOverview_while_the_broker_is_away(t *testing.T) {
	a := planted(t)
	u := a.units[0]
	away := &messaging{}
	defer func() { must(t, away.close(context.Background())) }()
	var err error
	away.admin, err = broker.NewAdmin(broker.Connection{Seeds: []string{"127.0.0.1:1"}})
	must(t, err)
	o, err := u.overview(t.Context(), away)
	if err != nil || o.ReadingError == "" || strings.Contains(o.ReadingError, "127.0.0.1") || o.Reading != nil || o.DeadLetters.Open != 3 {
		t.Errorf("%+v, error %v", o, err)
	}
}

func TestOverview_of_a_broker_that_refuses(t *testing.T) {
	a := planted(t)
	a.messaging.embedded.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Err: kerr.GroupAuthorizationFailed, Count: -1})
	o, err := a.units[0].overview(t.Context(), a.messaging)
	if err != nil || o.ReadingError != "the broker answers GROUP_AUTHORIZATION_FAILED" || o.Reading != nil {
		t.Errorf("%+v, error %v", o, err)
	}
}

func TestOverview_of_a_closed_database(t *testing.T) {
	a := planted(t)
	must(t, a.units[0].db.Close())
	if _, err := a.units[0].overview(t.Context(), a.messaging); err == nil {
		t.Error("no error")
	}
}

func TestParked(t *testing.T) {
	a := planted(t)
	rows, err := a.units[0].parked(t.Context())
	must(t, err)
	if len(rows) != 1 || rows[0].Database != Kitchen || rows[0].Key != "\uFFFD" || rows[0].Reason != "too large" {
		t.Errorf("%+v", rows)
	}
}
