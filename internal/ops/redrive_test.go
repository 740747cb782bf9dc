package ops_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/consume/consumetest"
	"kuhnya/internal/broker"
	"kuhnya/internal/database"
	"kuhnya/internal/establishment"
	"kuhnya/internal/establishment/establishmentbus"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/kitchen/kitchenbus"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/internal/ops"
	"kuhnya/outbox"
)

// TestRedrive_of_a_record_that_stays_poison: each redrive is a new dead letter until the limit, its headers don't grow,
// and no other group ever sees it again.
func TestRedrive_of_a_record_that_stays_poison(t *testing.T) {
	r := newRig(t, messages(t))
	poison := func(_ context.Context, records []*kgo.Record) []error {
		return broker.ApplyAll(records, func(r *kgo.Record) (int, error) {
			_, err := event.Decode[event.EstablishmentStatus](r.Value)
			return 0, err
		}, func(commands []int) []error { return make([]error, len(commands)) })
	}
	seen, skipped := make(chan string, 100), make(chan int64, 100)
	topic := topics.EstablishmentStatuses()
	r.serve(event.GroupKitchen, topic, poison)
	r.consume("watch", topic, watcher(seen), &consumetest.Memory{}, consume.Events{
		Skipped: func(_ consume.Partition, offset int64) { skipped <- offset },
	})

	own := []outbox.Header{
		{Key: "ce_id", Value: []byte("1")}, {Key: "idempotency-key", Value: []byte("k")}, {Key: "\xff"},
		{Key: "traceparent", Value: []byte("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")},
	}
	r.send(topic, "key", "{", own...)
	first := r.nextDeadLetter()
	letter := first
	for n := range ops.MaxRedrives {
		if letter.RedriveCount != n {
			t.Fatalf("dead letter %d has a count of %d", n, letter.RedriveCount)
		}
		r.mustRedrive(letter.ID)
		next := r.nextDeadLetter()
		if next.ID == letter.ID || next.Offset <= letter.Offset {
			t.Fatalf("redrive %d made no new dead letter", n)
		}
		if diff := cmp.Diff(first.Headers, next.Headers); diff != "" {
			t.Fatalf("headers changed by redrive %d (-first +now):\n%s", n, diff)
		}
		if string(next.Key) != "key" || string(next.Value) != "{" || next.Partition != first.Partition {
			t.Fatalf("key %q, value %q in partition %d", next.Key, next.Value, next.Partition)
		}
		letter = next
	}
	_, err := r.deadLetters.Redrive(t.Context(), letter.ID)
	if fault.CodeOf(err) != fault.RedriveLimit {
		t.Errorf("the sixth redrive: %v", err)
	}

	r.send(topic, "key", `{}`)
	for range ops.MaxRedrives {
		receive(t, skipped)
	}
	if diff := cmp.Diff([]string{"{", "{}"}, []string{receive(t, seen), receive(t, seen)}); diff != "" {
		t.Errorf("another group saw (-want +got):\n%s", diff)
	}
}

// TestRedrive_after_its_cause_has_gone: a status for an order that kitchen does not know yet is applied once it does.
func TestRedrive_after_its_cause_has_gone(t *testing.T) {
	db := messages(t, kitchensql.Migrations())
	r := newRig(t, db)
	store := kitchensql.NewSQLite(db)
	service := kitchen.New(store, kitchen.Options{Topics: topics, Classify: database.BatchClass, Wake: func() {}})
	t.Cleanup(func() { must(t, service.Close(context.Background())) })
	r.serve(event.GroupKitchen, topics.EstablishmentStatuses(), kitchenbus.Handler(service))

	order := kitchen.Order{
		ID: uuid.Must(uuid.NewV7()), UserID: "alice", EstablishmentID: uuid.New(), Status: lifecycle.Placed, Seq: 1,
		Total: money.Money{Currency: money.RUB},
	}
	r.send(topics.EstablishmentStatuses(), order.ID.String(),
		fmt.Sprintf(`{"order_id":%q,"establishment_id":%q,"status":"accepted"}`, order.ID, order.EstablishmentID))
	letter := r.nextDeadLetter()
	if letter.ErrorCode != string(fault.NotFound) {
		t.Fatalf("dead letter %s: %s", letter.ErrorCode, letter.ErrorMessage)
	}

	_, _, err := service.PutEstablishment(t.Context(), kitchen.Establishment{
		ID: order.EstablishmentID, Name: "Canteen", State: kitchen.Open, AcceptTimeout: time.Minute, Timezone: "UTC", Currency: money.RUB,
	})
	must(t, err)
	must(t, store.Write(t.Context(), func(tx kitchen.Tx) error {
		if _, err := tx.InsertOrders([]kitchen.Order{order}); err != nil {
			return err
		}
		return tx.InsertEvents([]kitchen.Event{{OrderID: order.ID, Seq: 1, To: lifecycle.Placed, Actor: "customer:alice", Deliveries: 1}})
	}))
	r.mustRedrive(letter.ID)
	r.mustSettle(letter.Offset + 2)
	got, _, err := store.Order(t.Context(), order.ID)
	must(t, err)
	if got.Status != lifecycle.Accepted || got.Seq != 2 {
		t.Errorf("order is %s at %d", got.Status, got.Seq)
	}
	violations, err := store.Violations(t.Context())
	if must(t, err); len(violations) > 0 {
		t.Error(violations)
	}
}

// TestRedrive_of_an_order_that_has_moved_on: order.placed is a dead letter while its order goes on; redriven, it brings
// the ticket where the order stands.
func TestRedrive_of_an_order_that_has_moved_on(t *testing.T) {
	for _, status := range []lifecycle.Status{lifecycle.Accepted, lifecycle.Cancelled} {
		t.Run(string(status), func(t *testing.T) {
			db := messages(t, establishmentsql.Migrations())
			r := newRig(t, db)
			store := establishmentsql.NewSQLite(db)
			service := establishment.New(store, establishment.Options{
				Topics: topics, Publisher: unused{t}, Classify: database.BatchClass, Log: slog.New(slog.DiscardHandler),
			})
			t.Cleanup(func() { must(t, service.Close(context.Background())) })
			r.serve(event.GroupEstablishment, topics.Orders(), refusingFirst(establishmentbus.Handler(service)))

			placed, changed := facts(status)
			r.sendMessage(message(t, event.OrderPlacedType, placed.OrderID, placed))
			letter := r.nextDeadLetter()
			r.sendMessage(message(t, event.OrderStatusChangedType, placed.OrderID, changed))
			r.mustSettle(letter.Offset + 2)
			if _, shown, err := store.Ticket(t.Context(), placed.OrderID); shown || err != nil {
				t.Fatalf("a ticket without lines is shown, error %v", err)
			}

			r.mustRedrive(letter.ID)
			r.mustSettle(letter.Offset + 3)
			ticket, shown, err := store.Ticket(t.Context(), placed.OrderID)
			must(t, err)
			if !shown || ticket.Status != status || ticket.KitchenSeq != 2 || len(ticket.Lines) != 1 || ticket.Code != placed.Code {
				t.Errorf("shown: %v, %+v", shown, ticket)
			}
			open, err := store.Tickets(t.Context(), establishment.TicketFilter{Status: lifecycle.Placed}, uuid.Nil, 10)
			if must(t, err); len(open) > 0 {
				t.Errorf("an open card: %+v", open)
			}
		})
	}
}

// refusingFirst refuses the first record that it is given, as a fault in the program might that is mended since.
func refusingFirst(handler consume.Handler) consume.Handler {
	var refused atomic.Bool
	return func(ctx context.Context, records []*kgo.Record) []error {
		if refused.Swap(true) {
			return handler(ctx, records)
		}
		return append([]error{fault.New(fault.InvalidRequest, "not understood")}, handler(ctx, records[1:])...)
	}
}

func facts(to lifecycle.Status) (event.OrderPlaced, event.OrderStatusChanged) {
	price := money.Money{Amount: 450_00, Currency: money.RUB}
	placed := event.OrderPlaced{
		OrderID: uuid.Must(uuid.NewV7()), Code: "7K2QX", UserID: "alice", EstablishmentID: uuid.New(), Seq: 1, Status: lifecycle.Placed,
		Lines: []event.OrderLine{{DishID: uuid.New(), Name: "Soup", Quantity: 1, UnitPrice: price, Total: price}}, Total: price,
		AcceptDeadline: time.Date(2026, 3, 31, 12, 10, 0, 0, time.UTC), PlacedAt: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC),
	}
	return placed, event.OrderStatusChanged{
		OrderID: placed.OrderID, EstablishmentID: placed.EstablishmentID, UserID: placed.UserID, Seq: 2, From: lifecycle.Placed, To: to,
		Total: price, PlacedAt: placed.PlacedAt, At: placed.PlacedAt.Add(time.Minute),
	}
}

func message(t *testing.T, kind event.Type, orderID uuid.UUID, data any) outbox.Message {
	t.Helper()
	m, err := event.Fact{
		ID: uuid.New(), Type: kind, Source: "kitchen", Topic: topics.Orders(), OrderID: orderID, Data: data,
	}.Message()
	must(t, err)
	return m
}

// unused is the way to kitchen, which nothing here takes.
type unused struct{ *testing.T }

func (u unused) Publish(context.Context, outbox.Message) error {
	u.Error("a step was published")
	return nil
}
