package kitchenbus

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/trace"
)

const (
	order = "01980000-0000-7000-8000-0000000000a1"
	place = "01980000-0000-7000-8000-0000000000b1"
)

func record(status string, headers ...kgo.RecordHeader) *kgo.Record {
	value := `{"order_id":"` + order + `","establishment_id":"` + place + `","status":"` + status + `"}`
	return &kgo.Record{Key: []byte(order), Value: []byte(value), Headers: headers}
}

func header(key, value string) kgo.RecordHeader {
	return kgo.RecordHeader{Key: key, Value: []byte(value)}
}

func TestDecode_gives_a_record_without_a_key_the_deterministic_one(t *testing.T) {
	for name, r := range map[string]*kgo.Record{
		"no headers":       record("accepted"),
		"header of nil":    record("accepted", kgo.RecordHeader{Key: "idempotency-key"}),
		"with an envelope": record("accepted", header("ce_type", "establishment.status.v1")),
		"its own":          record("accepted", header("idempotency-key", order+":accepted")),
	} {
		change, err := decode(r)
		if err != nil || string(change.Key) != order+":accepted" || change.Actor != "staff:"+place {
			t.Errorf("%s: %+v, %v", name, change, err)
		}
	}
}

// TestDecode_joins_the_trace_of_the_record: in a span of its own, and in a new trace where the record names none.
func TestDecode_joins_the_trace_of_the_record(t *testing.T) {
	const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for name, c := range map[string]struct {
		record *kgo.Record
		joins  bool
	}{
		"a traceparent":         {record("accepted", header("traceparent", traceparent)), true},
		"an invalid one":        {record("accepted", header("traceparent", "00-secret")), false},
		"none":                  {record("accepted"), false},
		"a header without one":  {record("accepted", kgo.RecordHeader{Key: "traceparent"}), false},
		"the last of those two": {record("accepted", header("traceparent", "x"), header("traceparent", traceparent)), true},
	} {
		change, err := decode(c.record)
		id := trace.ID(change.Trace)
		if err != nil || id == "" || (id == trace.ID(traceparent)) != c.joins || change.Trace == traceparent {
			t.Errorf("%s: %q, %v", name, change.Trace, err)
		}
	}
}

// A status that does not exist is the rules' to refuse, as an invalid request and not for the key made of it.
func TestDecode_leaves_the_status_to_the_rules(t *testing.T) {
	for _, status := range []string{"eaten", "a b", "готово", ""} {
		if _, err := decode(record(status)); err != nil {
			t.Errorf("%q: %v", status, err)
		}
	}
}

func TestDecode_refuses(t *testing.T) {
	for name, c := range map[string]struct {
		record *kgo.Record
		want   func(error) bool
	}{
		"key that is none":     {record("accepted", header("idempotency-key", "a,b")), code(fault.IdempotencyKeyInvalid)},
		"unknown version":      {record("accepted", header("ce_type", "establishment.status.v9")), is(event.ErrInvalid)},
		"unknown type":         {record("accepted", header("ce_type", "weather.changed.v1")), is(event.ErrUnknownType)},
		"no establishment":     {&kgo.Record{Value: []byte(`{"order_id":"` + order + `","status":"accepted"}`)}, code(fault.InvalidRequest)},
		"broken value":         {&kgo.Record{Value: []byte(`{`)}, is(event.ErrInvalid)},
		"no value":             {&kgo.Record{}, is(event.ErrInvalid)},
		"nil establishment id": {&kgo.Record{Value: []byte(`{"establishment_id":"` + uuid.Nil.String() + `"}`)}, code(fault.InvalidRequest)},
	} {
		if _, err := decode(c.record); !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func code(want fault.Code) func(error) bool {
	return func(err error) bool { return fault.CodeOf(err) == want }
}

func is(want error) func(error) bool {
	return func(err error) bool { return errors.Is(err, want) }
}
