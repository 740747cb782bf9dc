// Package event is what the services say to each other: the topics, the envelope and one file per payload.
//
// A record is a CloudEvents 1.0 event in Kafka's binary mode: attributes are headers (ce_id, ce_type, …), the value is
// the JSON data, the record key is the order's id. Readers ignore unknown members, so a type's version grows only by
// optional members; anything else is a new version.
//
// Decoding never panics and treats whatever a stranger may put on a topic as ordinary input: it ends in an error that
// makes the record a dead letter, or, for a type that nobody here knows, in [ErrUnknownType].
package event

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"kuhnya/internal/trace"
	"kuhnya/outbox"
)

// Header names of the envelope. The names of CloudEvents 1.0, Kafka protocol binding, binary content mode.
const (
	headerID             = "ce_id"
	headerType           = "ce_type"
	headerSource         = "ce_source"
	headerTime           = "ce_time"
	headerSpecVersion    = "ce_specversion"
	headerContentType    = "content-type"
	headerTraceParent    = "traceparent"
	headerIdempotencyKey = "idempotency-key"
)

// Type is an event type with its version, as in ce_type.
type Type string

// ErrUnknownType says that nobody here reads events of that type: skip and count.
var ErrUnknownType = errors.New("unknown event type")

// ErrInvalid says that a record can't be understood: undecodable, without its type, or of an unknown version.
var ErrInvalid = errors.New("invalid record")

// Envelope is what a record says about itself in its headers.
type Envelope struct {
	ID             string
	Type           Type
	IdempotencyKey string
	TraceParent    string // "" if it is invalid: what a stranger wrote there must not go further
}

// Fact is an event about to be told.
type Fact struct {
	ID             uuid.UUID
	Type           Type
	Source         string // service that tells it
	Topic          string
	OrderID        uuid.UUID
	IdempotencyKey string // optional
	TraceParent    string // optional, W3C Trace Context
	At             time.Time
	Data           any
}

// Message is the fact in the form in which an outbox keeps it and a broker carries it.
func (f Fact) Message() (outbox.Message, error) {
	data, err := json.Marshal(f.Data, json.Deterministic(true))
	if err != nil {
		return outbox.Message{}, fmt.Errorf("encode %s of order %s: %w", f.Type, f.OrderID, err)
	}
	headers := []outbox.Header{
		{Key: headerID, Value: []byte(f.ID.String())},
		{Key: headerType, Value: []byte(f.Type)},
		{Key: headerSource, Value: []byte("/kuhnya/" + f.Source)},
		{Key: headerTime, Value: []byte(f.At.UTC().Format(time.RFC3339Nano))},
		{Key: headerSpecVersion, Value: []byte("1.0")},
		{Key: headerContentType, Value: []byte("application/json")},
	}
	if f.TraceParent != "" {
		headers = append(headers, outbox.Header{Key: headerTraceParent, Value: []byte(f.TraceParent)})
	}
	if f.IdempotencyKey != "" {
		headers = append(headers, outbox.Header{Key: headerIdempotencyKey, Value: []byte(f.IdempotencyKey)})
	}
	return outbox.Message{EventID: f.ID, Topic: f.Topic, Key: f.OrderID.String(), Headers: headers, Payload: data}, nil
}

// Open reads the envelope out of a record's headers. A header that appears twice counts with its last value.
func Open(headers []outbox.Header) (e Envelope) {
	for _, h := range headers {
		switch h.Key {
		case headerID:
			e.ID = string(h.Value)
		case headerType:
			e.Type = Type(h.Value)
		case headerIdempotencyKey:
			e.IdempotencyKey = string(h.Value)
		case headerTraceParent:
			e.TraceParent = string(h.Value)
		}
	}
	if trace.ID(e.TraceParent) == "" {
		e.TraceParent = ""
	}
	return e
}

// Describe names what a message is about and what it belongs to, for log lines: order_id, from its key, and trace_id.
// What a stranger put there instead of these is left out.
func Describe(m outbox.Message) (attrs []slog.Attr) {
	if id, err := uuid.Parse(m.Key); err == nil {
		attrs = append(attrs, slog.Any("order_id", id))
	}
	if id := trace.ID(Open(m.Headers).TraceParent); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	return attrs
}

var versioned = regexp.MustCompile(`^(.+)\.v[0-9]+$`)

// Among checks the envelope's type against those that a reader knows: nil if it is one of them, [ErrInvalid] for an
// absent type or another version of a known one, [ErrUnknownType] otherwise.
func (e Envelope) Among(known ...Type) error {
	if e.Type == "" {
		return fmt.Errorf("%w: no %s header", ErrInvalid, headerType)
	}
	for _, k := range known {
		if e.Type == k {
			return nil
		}
		if name(e.Type) == name(k) {
			return fmt.Errorf("%w: unknown version of %s", ErrInvalid, name(k))
		}
	}
	return ErrUnknownType
}

func name(t Type) string {
	if m := versioned.FindStringSubmatch(string(t)); m != nil {
		return m[1]
	}
	return string(t)
}

// Decode reads a record's value. The error says what is wrong without repeating the value.
func Decode[Data any](value []byte) (data Data, err error) {
	if len(value) == 0 {
		return data, fmt.Errorf("%w: no value", ErrInvalid)
	}
	decoded := &data // null leaves nil here; into a struct it would pass as one without members
	if err := json.Unmarshal(value, &decoded); err != nil || decoded == nil {
		var none Data
		return none, fmt.Errorf("%w: value is not the JSON of this event", ErrInvalid)
	}
	return *decoded, nil
}
