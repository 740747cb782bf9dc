package bonusbus

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/internal/bonus"
	"kuhnya/internal/broker"
	"kuhnya/internal/event"
	"kuhnya/internal/money"
	"kuhnya/internal/trace"
)

const (
	order  = "01980000-0000-7000-8000-0000000000a1"
	place  = "01980000-0000-7000-8000-0000000000b1"
	parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
)

// record is kitchen's word about an order, of a type unless that is "".
func record(kind, value string, headers ...kgo.RecordHeader) *kgo.Record {
	if kind != "" {
		headers = append(headers, kgo.RecordHeader{Key: "ce_type", Value: []byte(kind)})
	}
	return &kgo.Record{Key: []byte(order), Value: []byte(value), Headers: headers}
}

// changed is the value of a change into a status.
func changed(to string) string {
	return `{"order_id":"` + order + `","establishment_id":"` + place + `","user_id":"alice","seq":5,"from":"ready","to":"` + to + `",` +
		`"total":{"amount":45000,"currency":"RUB"},"placed_at":"2026-03-31T18:30:00.5Z","at":"2026-03-31T19:00:00Z","new":{}}`
}

func TestDecode_reads_a_completed_order(t *testing.T) {
	got, err := decode(record("order.status_changed.v1", changed("completed"), kgo.RecordHeader{Key: "traceparent", Value: []byte(parent)}))
	if err != nil {
		t.Fatal(err)
	}
	if trace.ID(got.Trace) != trace.ID(parent) || got.Trace == parent {
		t.Errorf("trace %s is not a child of the record's", got.Trace)
	}
	got.Trace = ""
	want := bonus.Completed{
		OrderID: uuid.MustParse(order), UserID: "alice", EstablishmentID: uuid.MustParse(place),
		Total:    money.Money{Amount: 450_00, Currency: "RUB"},
		PlacedAt: time.Date(2026, 3, 31, 18, 30, 0, 500_000_000, time.UTC),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDecode_of_everything_else: what is not for bonus passes, what nobody can understand is a dead letter.
func TestDecode_of_everything_else(t *testing.T) {
	const placed, status = "order.placed.v1", "order.status_changed.v1"
	for name, c := range map[string]struct {
		record *kgo.Record
		want   error
	}{
		"a new order":                {record(placed, `{"order_id":"`+order+`"}`), broker.ErrNoConcern},
		"a new order, unreadable":    {record(placed, `{`), broker.ErrNoConcern},
		"accepted":                   {record(status, changed("accepted")), broker.ErrNoConcern},
		"ready":                      {record(status, changed("ready")), broker.ErrNoConcern},
		"cancelled":                  {record(status, changed("cancelled")), broker.ErrNoConcern},
		"a status that nobody knows": {record(status, changed("eaten")), broker.ErrNoConcern},
		"another spelling":           {record(status, changed("Completed")), broker.ErrNoConcern},
		"an unknown type":            {record("weather.changed.v1", changed("completed")), event.ErrUnknownType},
		"a status of the board":      {record("establishment.status.v1", changed("completed")), event.ErrUnknownType},
		"no type":                    {record("", changed("completed")), event.ErrInvalid},
		"no headers":                 {&kgo.Record{Value: []byte(changed("completed"))}, event.ErrInvalid},
		"a type of nil":              {record("", changed("completed"), kgo.RecordHeader{Key: "ce_type"}), event.ErrInvalid},
		"an unknown version":         {record("order.status_changed.v2", changed("completed")), event.ErrInvalid},
		"an unknown version of new":  {record("order.placed.v99", changed("completed")), event.ErrInvalid},
		"half a value":               {record(status, `{`), event.ErrInvalid},
		"null":                       {record(status, `null`), event.ErrInvalid},
		"no value":                   {record(status, ``), event.ErrInvalid},
		"a value of nil":             {&kgo.Record{Headers: record(status, "").Headers}, event.ErrInvalid},
		"an amount with a fraction":  {record(status, `{"to":"completed","total":{"amount":1.5,"currency":"RUB"}}`), event.ErrInvalid},
		"a time that is none":        {record(status, `{"to":"completed","placed_at":"yesterday"}`), event.ErrInvalid},
		"an id that is none":         {record(status, `{"to":"completed","order_id":"1"}`), event.ErrInvalid},
	} {
		if got, err := decode(c.record); !errors.Is(err, c.want) || got != (bonus.Completed{}) {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, c.want)
		}
	}
}
