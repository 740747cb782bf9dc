package kitchen_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/fault"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/internal/trace"
)

// journal is a log that tests read.
type journal struct{ bytes.Buffer }

func (j *journal) logger() *slog.Logger {
	return slog.New(trace.Logs(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// lines are the lines since the last call, without their time.
func (j *journal) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for text := range bytes.Lines(j.Next(j.Len())) {
		var line map[string]any
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		delete(line, "time")
		lines = append(lines, line)
	}
	return lines
}

// logged is a kitchen with a place that sells a dish, and its log.
type logged struct {
	*testing.T
	service *kitchen.Service
	log     journal
	place   uuid.UUID
	dish    uuid.UUID
}

func newLogged(t *testing.T, wrap func(kitchen.Store) kitchen.Store) *logged {
	l := &logged{T: t, place: uuid.New(), dish: uuid.New()}
	store := kitchensql.NewSQLite(databasetest.SQLite(t, kitchensql.Migrations(), messagesql.Migrations()))
	l.service = kitchen.New(wrap(store), kitchen.Options{Classify: database.BatchClass, Wake: func() {}, Log: l.log.logger()})
	_, _, err := l.service.PutEstablishment(t.Context(), kitchen.Establishment{
		ID: l.place, Name: "Canteen", State: kitchen.Open, AcceptTimeout: time.Minute, Timezone: "UTC", Currency: money.RUB,
	})
	dishes := []kitchen.MenuDish{{ID: l.dish, ExternalID: "soup", Name: "Soup", Price: 1, InitialStock: new(int64(1))}}
	if err := errors.Join(err, l.service.PutMenu(t.Context(), l.place, dishes, "staff:marta")); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *logged) order(key idempotency.Key, traceparent string) kitchen.PlaceOrder {
	return kitchen.PlaceOrder{
		UserID: "alice", EstablishmentID: l.place, Lines: []kitchen.PlaceLine{{DishID: l.dish, Quantity: 1}}, Comment: "secret",
		Key: key, Trace: traceparent,
	}
}

func (l *logged) want(lines ...map[string]any) {
	l.Helper()
	if diff := cmp.Diff(lines, l.log.lines(l.T)); diff != "" {
		l.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestLog(t *testing.T) {
	l := newLogged(t, func(s kitchen.Store) kitchen.Store { return s })
	defer func() {
		if err := l.service.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	ctx := trace.WithRequestID(t.Context(), "r1")
	place, accept := trace.New(), trace.New()

	placed, err := l.service.Place(ctx, l.order("secret", place))
	if err != nil {
		t.Fatal(err)
	}
	id := placed.Order.ID.String()
	l.want(map[string]any{
		"level": "INFO", "msg": "order placed", "order_id": id, "establishment_id": l.place.String(),
		"request_id": "r1", "trace_id": trace.ID(place),
	})

	_, replayed := l.service.Place(ctx, l.order("secret", trace.New()))
	_, refused := l.service.Place(ctx, l.order("", trace.New()))
	if replayed != nil || fault.CodeOf(refused) != fault.OutOfStock {
		t.Fatal(replayed, refused)
	}
	l.want()

	change := kitchen.Change{
		OrderID: placed.Order.ID, To: lifecycle.Accepted, Reason: "secret", Party: lifecycle.Staff, Actor: "staff:secret", Key: "secret",
		Trace: accept,
	}
	for _, level := range []string{"INFO", "DEBUG"} {
		if err := l.service.ChangeAll(t.Context(), []kitchen.Change{change})[0]; err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"level": "INFO", "msg": "order status changed", "order_id": id, "from": "placed", "to": "accepted", "actor_kind": "staff",
			"trace_id": trace.ID(accept),
		}
		if level == "DEBUG" {
			want["level"], want["msg"], want["from"] = "DEBUG", "order status repeated", ""
		}
		l.want(want)
	}

	change.To, change.Key = lifecycle.Completed, ""
	if _, err := l.service.Change(ctx, change); fault.CodeOf(err) != fault.InvalidTransition {
		t.Fatal(err)
	}
	l.want()
}

// gated is a store whose transactions wait at a gate.
type gated struct {
	kitchen.Store
	gate chan struct{}
}

func (g gated) Write(ctx context.Context, f func(kitchen.Tx) error) error {
	<-g.gate
	return g.Store.Write(ctx, f)
}

// TestLog_of_a_caller_who_has_left: what was decided is told all the same, and once.
func TestLog_of_a_caller_who_has_left(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{}, 2)
		gate <- struct{}{} // for the establishment and its menu
		gate <- struct{}{}
		l := newLogged(t, func(s kitchen.Store) kitchen.Store { return gated{s, gate} })
		for _, key := range []idempotency.Key{"k", ""} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := l.service.Place(ctx, l.order(key, trace.New()))
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		l.want()
		close(gate)
		if err := l.service.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if lines := l.log.lines(t); len(lines) != 1 || lines[0]["msg"] != "order placed" { // there was one portion
			t.Errorf("log: %v", lines)
		}
	})
}
