package broker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/batch"
	"kuhnya/consume"
	"kuhnya/internal/broker"
	"kuhnya/internal/database"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
)

// decodeText understands every value but "unknown", "ignored" and "broken".
func decodeText(r *kgo.Record) (string, error) {
	switch text := string(r.Value); text {
	case "unknown":
		return "", fmt.Errorf("decode: %w", event.ErrUnknownType)
	case "ignored":
		return "", fmt.Errorf("decode: %w", broker.ErrNoConcern)
	case "broken":
		return "", fmt.Errorf("decode: %w", event.ErrInvalid)
	default:
		return text, nil
	}
}

// echo fails each command with itself, all but "fine".
func echo(applied *[]string) func([]string) []error {
	return func(commands []string) []error {
		*applied = commands
		errs := make([]error, len(commands))
		for i, c := range commands {
			if c != "fine" {
				errs[i] = errors.New(c)
			}
		}
		return errs
	}
}

func TestDescribe(t *testing.T) {
	r := &kgo.Record{Key: []byte("0199f3a0-0000-7000-8000-0000000000aa"), Headers: []kgo.RecordHeader{
		{Key: "traceparent", Value: []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")},
	}}
	want := "[order_id=0199f3a0-0000-7000-8000-0000000000aa trace_id=0af7651916cd43dd8448eb211c80319c]"
	if got := fmt.Sprint(broker.Describe(r)); got != want {
		t.Errorf("described as %s", got)
	}
}

func TestApplyAll(t *testing.T) {
	for name, c := range map[string]struct {
		records string // by blanks
		applied []string
		results string // by blanks, "-" for no error
	}{
		"keeps_the_order":                    {"c a b", []string{"c", "a", "b"}, "c a b"},
		"tells_unknown_types":                {"unknown a unknown b", []string{"a", "b"}, "unknown! a unknown! b"},
		"skips_what_is_of_no_concern":        {"ignored a ignored b", []string{"a", "b"}, "- a - b"},
		"puts_errors_where_they_belong":      {"broken a fine broken b broken", []string{"a", "fine", "b"}, "invalid a - invalid b invalid"},
		"mixes_all_of_them":                  {"unknown broken fine unknown a broken", []string{"fine", "a"}, "unknown! invalid - unknown! a invalid"},
		"applies_nothing_of_nothing_decoded": {"broken unknown", nil, "invalid unknown!"},
		"takes_no_records":                   {"", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var records []*kgo.Record
			for _, value := range strings.Fields(c.records) {
				records = append(records, &kgo.Record{Value: []byte(value)})
			}
			var applied []string
			var results []string
			for _, err := range broker.ApplyAll(records, decodeText, echo(&applied)) {
				switch {
				case err == nil:
					results = append(results, "-")
				case errors.Is(err, consume.ErrUnknown):
					results = append(results, "unknown!")
				case errors.Is(err, event.ErrInvalid):
					results = append(results, "invalid")
				default:
					results = append(results, err.Error())
				}
			}
			if diff := cmp.Diff(c.applied, applied, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("applied (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(strings.Fields(c.results), results, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeaders_keep_order_repeats_and_absence(t *testing.T) {
	r := &kgo.Record{Headers: []kgo.RecordHeader{{Key: "b", Value: []byte("1")}, {Key: "a"}, {Key: "b", Value: []byte{}}}}
	m := message("topic", "key", nil)
	m.Headers = broker.Headers(r)
	if len(m.Headers) != 3 || m.Headers[0].Key != "b" || m.Headers[1].Value != nil || m.Headers[2].Value == nil {
		t.Errorf("headers %+v", m.Headers)
	}
	if got := broker.Headers(&kgo.Record{}); len(got) != 0 {
		t.Errorf("headers of none: %+v", got)
	}
}

func TestClassify_judges_every_code(t *testing.T) {
	transient := map[fault.Code]bool{
		fault.RequestInProgress: true, fault.TooManyRequests: true, fault.PublishFailed: true, fault.Unavailable: true,
		fault.OutcomeUnknown: true,
	}
	for _, code := range []fault.Code{
		fault.InvalidRequest, fault.IdempotencyKeyInvalid, fault.Unauthenticated, fault.Forbidden, fault.NotFound,
		fault.MethodNotAllowed, fault.OutOfStock, fault.DishUnavailable, fault.PriceChanged, fault.EstablishmentClosed,
		fault.BelowMinimum, fault.InvalidTransition, fault.RequestInProgress, fault.StockChanged, fault.RedriveLimit,
		fault.DeadLetterDiscarded, fault.PayloadTooLarge, fault.UnsupportedMediaType, fault.IdempotencyKeyReused,
		fault.AccrualConflict, fault.TooManyRequests, fault.Internal, fault.PublishFailed, fault.Unavailable, fault.OutcomeUnknown,
	} {
		want := consume.Domain
		if transient[code] {
			want = consume.Transient
		}
		if code == fault.Internal {
			want = consume.Unclassified
		}
		// What led to a refusal does not change what it is.
		for _, err := range []error{fault.New(code, "no"), fmt.Errorf("apply: %w", fault.New(code, "no").Because(database.ErrBusy))} {
			if class, name := broker.Classify(err); class != want || name != string(code) {
				t.Errorf("%v: %v, %q, want %v", err, class, name, want)
			}
		}
	}
}

func TestClassify_judges_every_kind_of_failure(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want consume.Class
		code string
	}{
		"undecodable":         {event.ErrInvalid, consume.Domain, "invalid_request"},
		"busy":                {database.ErrBusy, consume.Transient, ""},
		"disk":                {database.ErrUnavailable, consume.Transient, ""},
		"rival":               {database.ErrAgain, consume.Transient, ""},
		"constraint":          {database.ErrConstraint, consume.Unclassified, ""},
		"queue full":          {batch.ErrQueueFull, consume.Transient, ""},
		"closed":              {batch.ErrClosed, consume.Transient, ""},
		"not committed":       {batch.ErrNotCommitted, consume.Transient, ""},
		"outcome unknown":     {batch.ErrOutcomeUnknown, consume.Transient, ""},
		"run failed for disk": {&batch.RunError{Err: database.ErrUnavailable}, consume.Transient, ""},
		"run failed for code": {&batch.RunError{Err: errors.New("no such column")}, consume.Unclassified, ""},
		"panic":               {&batch.PanicError{Value: "index out of range"}, consume.Unclassified, ""},
		"deadline":            {context.DeadlineExceeded, consume.Transient, ""},
		"stopped":             {context.Canceled, consume.Transient, ""},
		"anything else":       {errors.New("division by zero"), consume.Unclassified, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{c.err, fmt.Errorf("apply %s: %w", uuid.Nil, c.err)} {
				class, code := broker.Classify(err)
				if class != c.want || code != c.code {
					t.Errorf("%v: %v, %q, want %v, %q", err, class, code, c.want, c.code)
				}
				if got, want := broker.Transient(err), c.want == consume.Transient; got != want {
					t.Errorf("%v: transient %v", err, got)
				}
			}
		})
	}
}
