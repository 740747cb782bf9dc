package event_test

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/event"
	"kuhnya/internal/lifecycle"
	"kuhnya/outbox"
)

func TestFact_becomes_a_message_of_CloudEvents(t *testing.T) {
	fact := event.Fact{
		ID: eventID, Type: event.EstablishmentStatusType, Source: "establishment", Topic: "kuhnya.establishment-statuses",
		OrderID: orderID, IdempotencyKey: event.CallbackKey(orderID, lifecycle.Accepted),
		TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		At:          time.Date(2026, 3, 31, 23, 59, 59, 123456000, time.FixedZone("", 3*3600)), Data: establishmentStatus,
	}
	got, err := fact.Message()
	must(t, err)
	header := func(name, value string) outbox.Header { return outbox.Header{Key: name, Value: []byte(value)} }
	want := outbox.Message{
		EventID: eventID, Topic: "kuhnya.establishment-statuses", Key: "0199f3a0-0000-7000-8000-0000000000aa",
		Headers: []outbox.Header{
			header("ce_id", "0199f3a0-0000-7000-8000-0000000000ee"),
			header("ce_type", "establishment.status.v1"),
			header("ce_source", "/kuhnya/establishment"),
			header("ce_time", "2026-03-31T20:59:59.123456Z"),
			header("ce_specversion", "1.0"),
			header("content-type", "application/json"),
			header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
			header("idempotency-key", "0199f3a0-0000-7000-8000-0000000000aa:accepted"),
		},
		Payload: golden(t, "establishment_status.json"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	envelope := event.Envelope{
		ID: eventID.String(), Type: fact.Type, IdempotencyKey: fact.IdempotencyKey, TraceParent: fact.TraceParent,
	}
	if diff := cmp.Diff(envelope, event.Open(got.Headers)); diff != "" {
		t.Errorf("envelope (-want +got):\n%s", diff)
	}
}

func TestDescribe(t *testing.T) {
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	order, trace := slog.Any("order_id", orderID), slog.String("trace_id", "0af7651916cd43dd8448eb211c80319c")
	for name, c := range map[string]struct {
		key, traceparent string
		want             []slog.Attr
	}{
		"order and trace":           {orderID.String(), traceparent, []slog.Attr{order, trace}},
		"an id in capital letters":  {strings.ToUpper(orderID.String()), "", []slog.Attr{order}},
		"no trace":                  {orderID.String(), "", []slog.Attr{order}},
		"what a stranger put there": {"Bearer secret", "00-secret", nil},
		"nothing":                   {"", "", nil},
	} {
		m := outbox.Message{Key: c.key, Headers: []outbox.Header{{Key: "traceparent", Value: []byte(c.traceparent)}}}
		if diff := cmp.Diff(c.want, event.Describe(m)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFact_leaves_absent_headers_out(t *testing.T) {
	m, err := event.Fact{ID: eventID, Type: "a.v1", OrderID: orderID}.Message()
	must(t, err)
	for _, name := range []string{"traceparent", "idempotency-key"} {
		if _, found := m.Header(name); found {
			t.Errorf("header %s of a fact without", name)
		}
	}
}

func TestFact_of_what_is_no_JSON_is_an_error(t *testing.T) {
	_, err := event.Fact{ID: eventID, Type: "a.v1", OrderID: orderID, Data: "\xff"}.Message()
	if err == nil || !strings.Contains(err.Error(), orderID.String()) {
		t.Errorf("error %v, want one that names the order", err)
	}
}

func TestOpen(t *testing.T) {
	for name, c := range map[string]struct {
		headers []outbox.Header
		want    event.Envelope
	}{
		"none":             {},
		"nil value":        {headers: []outbox.Header{{Key: "ce_type"}, {Key: "ce_id"}, {Key: "idempotency-key"}}},
		"last counts":      {[]outbox.Header{{Key: "ce_id", Value: []byte("1")}, {Key: "ce_id", Value: []byte("2")}}, event.Envelope{ID: "2"}},
		"a bad trace":      {headers: []outbox.Header{{Key: "traceparent", Value: []byte("00-\xff")}}},
		"names are exact":  {headers: []outbox.Header{{Key: "CE_ID", Value: []byte("1")}, {Key: "ce-id", Value: []byte("1")}}},
		"foreign and odd":  {headers: []outbox.Header{{Key: "", Value: []byte("1")}, {Key: "\xff", Value: []byte("\x00")}}},
		"any bytes inside": {[]outbox.Header{{Key: "idempotency-key", Value: []byte("\xff\n")}}, event.Envelope{IdempotencyKey: "\xff\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, event.Open(c.headers)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAmong(t *testing.T) {
	known := []event.Type{event.OrderPlacedType, event.OrderStatusChangedType}
	for kind, want := range map[event.Type]error{
		"order.placed.v1":         nil,
		"order.status_changed.v1": nil,
		"":                        event.ErrInvalid,
		"order.placed.v2":         event.ErrInvalid,
		"order.placed.v99":        event.ErrInvalid,
		"order.placed.v01":        event.ErrInvalid,
		"order.placed":            event.ErrInvalid,
		"order.placed.v":          event.ErrUnknownType,
		"order.placed.v1.v1":      event.ErrUnknownType,
		"order.placed.vx":         event.ErrUnknownType,
		"order.place.v1":          event.ErrUnknownType,
		"Order.placed.v1":         event.ErrUnknownType,
		"order.placed.v1 ":        event.ErrUnknownType,
		"establishment.status.v1": event.ErrUnknownType,
		".v1":                     event.ErrUnknownType,
		"\xff\n.v1":               event.ErrUnknownType,
	} {
		if err := (event.Envelope{Type: kind}).Among(known...); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", kind, err, want)
		}
	}
	if err := (event.Envelope{Type: "order.placed.v1"}).Among(); !errors.Is(err, event.ErrUnknownType) {
		t.Errorf("among none: %v", err)
	}
}

func TestDecode_refuses(t *testing.T) {
	const order, place = `"order_id":"0199f3a0-0000-7000-8000-0000000000aa"`, `"establishment_id":"0199f3a0-0000-7000-8000-0000000000bb"`
	for name, value := range map[string]string{
		"nothing":             "",
		"blanks":              " \n",
		"half an object":      "{",
		"null":                "null",
		"null in blanks":      "\t null\n",
		"an array":            "[]",
		"an array of objects": `[{"status":"accepted"}]`,
		"a string":            `"accepted"`,
		"a number":            "1",
		"trailing data":       `{"status":"accepted"} {}`,
		"trailing brace":      `{"status":"accepted"}}`,
		"duplicate members":   `{"status":"accepted","status":"rejected"}`,
		"duplicate unknowns":  `{"x":1,"x":2}`,
		"invalid UTF-8":       "{\"status\":\"\xff\"}",
		"a byte order mark":   "\ufeff{}",
		"a wrong type":        `{"status":1}`,
		"an id that is none":  `{"order_id":"1"}`,
		"an id as a number":   `{"order_id":1}`,
		"deep nesting":        `{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}",
		"a lone surrogate":    `{"reason":"\ud800"}`,
		"a comment":           `{` + order + `,/* */` + place + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := event.Decode[event.EstablishmentStatus]([]byte(value))
			if !errors.Is(err, event.ErrInvalid) {
				t.Fatalf("error %v, want ErrInvalid", err)
			}
			if trimmed := strings.TrimSpace(value); len(trimmed) > 10 && strings.Contains(err.Error(), trimmed) {
				t.Errorf("the error repeats the value: %v", err)
			}
		})
	}
	if _, err := event.Decode[event.EstablishmentStatus](nil); !errors.Is(err, event.ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
	for _, seq := range []string{"1.0", "1e2", `"1"`, "9223372036854775808", "true"} {
		if _, err := event.Decode[event.OrderPlaced]([]byte(`{"seq":` + seq + `}`)); !errors.Is(err, event.ErrInvalid) {
			t.Errorf("seq %s: %v", seq, err)
		}
	}
}

func TestDecode_ignores_what_it_does_not_know(t *testing.T) {
	got, err := event.Decode[event.EstablishmentStatus]([]byte(
		` {"new":[{"a":null}],"status":"accepted","STATUS":"rejected","order_id":"0199f3a0-0000-7000-8000-0000000000aa","reason":null} `))
	must(t, err)
	if diff := cmp.Diff(event.EstablishmentStatus{OrderID: orderID, Status: lifecycle.Accepted}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTopics(t *testing.T) {
	topics := event.Topics{Prefix: event.DefaultPrefix}
	for got, want := range map[string]string{
		topics.Orders():                                   "kuhnya.orders",
		topics.EstablishmentStatuses():                    "kuhnya.establishment-statuses",
		topics.Bonuses():                                  "kuhnya.bonuses",
		event.Topics{}.Orders():                           "orders",
		event.DeadLetterTopic("kuhnya.orders", "kitchen"): "kuhnya.orders.kitchen.dlq",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, c := range topics.Consumers() {
		if !slices.Contains(topics.GroupsOf(c.Topic), c.Group) || !slices.Contains(topics.ReadBy(c.Group), c.Topic) {
			t.Errorf("%+v is declared, but groups %v, topics %v", c, topics.GroupsOf(c.Topic), topics.ReadBy(c.Group))
		}
	}
	if got := topics.GroupsOf("orders"); got != nil {
		t.Errorf("groups of another deployment's topic: %v", got)
	}
}

func TestCallbackKey_is_the_same_on_every_try(t *testing.T) {
	if got, want := event.CallbackKey(uuid.MustParse(strings.ToUpper(orderID.String())), lifecycle.Ready), orderID.String()+":ready"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
