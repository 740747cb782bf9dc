package messagesql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/consume"
	"kuhnya/consume/consumetest"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opstest"
	"kuhnya/outbox"
	"kuhnya/outbox/outboxtest"
)

func open(t *testing.T) *database.SQLite { return databasetest.SQLite(t, messagesql.Migrations()) }

func appendTo(db *database.SQLite) func(context.Context, ...outbox.Message) error {
	return func(ctx context.Context, messages ...outbox.Message) error {
		return db.Write(ctx, func(c *database.Conn) error {
			return messagesql.Appender{Conn: c}.AppendOutbox(messages)
		})
	}
}

// TestOutbox leaves Begin out: SQLite has one writer at a time.
func TestOutbox(t *testing.T) {
	outboxtest.Run(t, func(t *testing.T) outboxtest.Fixture {
		db := open(t)
		store := messagesql.NewOutbox(db)
		return outboxtest.Fixture{Store: store, Append: appendTo(db), Parked: func(ctx context.Context) ([]outboxtest.Parked, error) {
			return parked(ctx, db)
		}}
	})
}

func parked(ctx context.Context, db *database.SQLite) (rows []outboxtest.Parked, err error) {
	// Parked rows are read back through the table's own statements, as an operator would.
	err = db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT id, event_id, topic, key, payload, created_at, reason, headers FROM outbox_parked ORDER BY id`,
			func(r database.Row) error {
				p := outboxtest.Parked{Reason: r.Text(6)}
				p.Row = outbox.Row{ID: r.Int(0), CreatedAt: r.Time(5)}
				p.Row.EventID, p.Row.Topic, p.Row.Key, p.Row.Payload = r.UUID(1), r.Text(2), r.Text(3), r.Blob(4)
				p.Row.Headers, err = messagesql.DecodeHeaders(r.Blob(7))
				rows = append(rows, p)
				return err
			})
	})
	return rows, err
}

// letters is the dead letters as the suite reads them back.
type letters struct{ messagesql.DeadLetters }

func (l letters) List(ctx context.Context) (all []consume.DeadLetter, err error) {
	var after uuid.UUID
	for {
		page, err := l.DeadLetters.DeadLetters(ctx, "", after, 7)
		if err != nil || len(page) == 0 {
			return all, err
		}
		for _, summary := range page {
			letter, _, err := l.DeadLetter(ctx, summary.ID)
			if err != nil {
				return nil, err
			}
			all = append(all, letter.DeadLetter)
			after = letter.ID
		}
	}
}

func TestDeadLetters(t *testing.T) {
	consumetest.DeadLetterStore(t, func(t *testing.T) consumetest.Store { return letters{messagesql.NewDeadLetters(open(t))} })
}

func TestDeadLetters_rules(t *testing.T) {
	opstest.DeadLetters(t, func(t *testing.T) opstest.Engine {
		db := open(t)
		store := messagesql.NewDeadLetters(db)
		return opstest.Engine{Store: store, Save: store.Save, Outbox: messagesql.NewOutbox(db)}
	})
}

func TestAppendOutbox(t *testing.T) {
	message := func(payload []byte) outbox.Message {
		return outbox.Message{EventID: uuid.Must(uuid.NewV7()), Topic: "orders", Key: "k", Payload: payload}
	}
	t.Run("refuses_what_no_broker_takes_and_keeps_nothing_of_its_transaction", func(t *testing.T) {
		db := open(t)
		err := appendTo(db)(t.Context(), message([]byte("small")), message(make([]byte, messagesql.MaxMessage)))
		if !errors.Is(err, outbox.ErrTooLarge) {
			t.Errorf("error %v, want ErrTooLarge", err)
		}
		if depth, err := messagesql.NewOutbox(db).Depth(t.Context()); depth != (outbox.Depth{}) || err != nil {
			t.Errorf("depth %+v, error %v", depth, err)
		}
	})
	t.Run("rolls_back_with_its_transaction", func(t *testing.T) {
		db := open(t)
		regret := errors.New("regret")
		err := db.Write(t.Context(), func(c *database.Conn) error {
			if err := (messagesql.Appender{Conn: c}).AppendOutbox([]outbox.Message{message(nil)}); err != nil {
				t.Fatal(err)
			}
			return regret
		})
		depth, depthErr := messagesql.NewOutbox(db).Depth(t.Context())
		if !errors.Is(err, regret) || depth.Waiting != 0 || depthErr != nil {
			t.Errorf("depth %+v after %v, %v", depth, err, depthErr)
		}
	})
}

// park parks all rows that wait but those of the key "waits".
func park(t *testing.T, store messagesql.Outbox) {
	t.Helper()
	lease, _, err := store.Acquire(t.Context(), "test", 1<<40)
	must(t, err)
	rows, err := store.Pending(t.Context(), 0, 10)
	must(t, err)
	for _, row := range rows {
		if row.Key != "waits" {
			must(t, store.Park(t.Context(), lease, row.ID, "too large"))
		}
	}
}

func TestEachParked(t *testing.T) {
	db := open(t)
	store := messagesql.NewOutbox(db)
	var messages []outbox.Message
	for _, key := range []string{"b", "waits", "a", "b", ""} {
		messages = append(messages, outbox.Message{EventID: uuid.Must(uuid.NewV7()), Topic: "orders", Key: key})
	}
	must(t, appendTo(db)(t.Context(), messages...))
	park(t, store)
	var parked []string
	must(t, store.EachParked(t.Context(), func(r outbox.Row, reason string) {
		if r.CreatedAt.IsZero() || r.EventID != messages[r.ID-1].EventID {
			t.Errorf("row %+v", r)
		}
		parked = append(parked, fmt.Sprint(r.ID, r.Topic, r.Key, reason))
	}))
	want := []string{fmt.Sprint(1, "orders", "b", "too large"), fmt.Sprint(3, "orders", "a", "too large"),
		fmt.Sprint(4, "orders", "b", "too large"), fmt.Sprint(5, "orders", "", "too large")}
	if diff := cmp.Diff(want, parked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadProgress(t *testing.T) {
	db := open(t)
	outboxes, letters := messagesql.NewOutbox(db), messagesql.NewDeadLetters(db)
	want := func(want messagesql.Progress) {
		t.Helper()
		if got, err := messagesql.ReadProgress(t.Context(), db); err != nil || got != want {
			t.Errorf("progress %+v, %v, want %+v", got, err, want)
		}
	}
	want(messagesql.Progress{})
	must(t, appendTo(db)(t.Context(), outbox.Message{Key: "waits"}, outbox.Message{EventID: uuid.New(), Key: "large"}))
	want(messagesql.Progress{Appended: 2, Waiting: 2})
	park(t, outboxes)
	want(messagesql.Progress{Appended: 2, Waiting: 1, Parked: 1})
	must(t, letters.Save(t.Context(), consume.DeadLetter{Group: "g", Topic: "t"}))
	want(messagesql.Progress{Appended: 2, Waiting: 1, Parked: 1, DeadLetters: 1})
	all, err := letters.DeadLetters(t.Context(), ops.Open, uuid.Nil, 1)
	must(t, err)
	must(t, letters.WriteDeadLetter(t.Context(), func(tx ops.DeadLetterTx) error { return tx.SetState(all[0].ID, ops.Redriven, "") }))
	want(messagesql.Progress{Appended: 2, Waiting: 1, Parked: 1, DeadLetters: 1, Redriven: 1})
	must(t, outboxes.Delete(t.Context(), outbox.Lease{Owner: "test", Epoch: 1}, []int64{1}))
	want(messagesql.Progress{Appended: 2, Parked: 1, DeadLetters: 1, Redriven: 1})
}

func TestEachKey(t *testing.T) {
	store := messagesql.NewDeadLetters(open(t))
	for i, key := range [][]byte{[]byte("open"), []byte("sent"), []byte("open"), nil, {}} {
		must(t, store.Save(t.Context(), consume.DeadLetter{Group: "g", Topic: "t", Offset: int64(i), Key: key}))
	}
	all, err := store.DeadLetters(t.Context(), ops.Open, uuid.Nil, 10)
	must(t, err)
	must(t, store.WriteDeadLetter(t.Context(), func(tx ops.DeadLetterTx) error { return tx.SetState(all[1].ID, ops.Redriven, "") }))
	for state, want := range map[ops.State][]string{ops.Open: {"", "open", "open"}, ops.Redriven: {"sent"}, ops.Discarded: nil} {
		var keys []string
		must(t, store.EachKey(t.Context(), state, func(key string) { keys = append(keys, key) }))
		slices.Sort(keys)
		if diff := cmp.Diff(want, keys); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
