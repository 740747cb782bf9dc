package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

func TestRouting(t *testing.T) {
	s := newSample(t)
	t.Run("404", func(t *testing.T) {
		for _, path := range []string{"/", "/v1/nothing", "/v1/orders/", "/v1/orders/a/b"} {
			s.call(t, "GET", path, "").mustBe(t, 404, fault.NotFound)
		}
	})
	t.Run("405 names the methods", func(t *testing.T) {
		a := s.call(t, "DELETE", "/v1/orders", "")
		a.mustBe(t, 405, fault.MethodNotAllowed)
		if allow := a.header.Get("Allow"); allow != "GET, HEAD, POST" {
			t.Errorf("Allow: %q", allow)
		}
	})
	t.Run("an id that can't exist is not found", func(t *testing.T) {
		customer := with("Authorization", token(t, auth.Customer))
		for _, id := range []string{"1", "%ff", "%00", "{" + establishment.String() + "}", "urn:uuid:" + establishment.String(),
			strings.ReplaceAll(establishment.String(), "-", ""), strings.Repeat("x", 36)} {
			s.call(t, "GET", "/v1/orders/"+id, "", customer).mustBe(t, 404, fault.NotFound)
		}
	})
	t.Run("queries", func(t *testing.T) {
		for query, pointer := range map[string]string{
			"x=1": "/x", "Limit=1": "/Limit", "limit=1&limit=2": "/limit", "limit=0": "/limit", "limit=201": "/limit",
			"limit=ten": "/limit", "limit=1.0": "/limit", "status=gone": "/status", "status=%ff": "/status",
			"status=%00": "/status", "cursor=x": "/cursor", "cursor=AXt9": "/cursor", "%zz": "", "a;b=1": "",
		} {
			a := s.call(t, "GET", "/v1/orders?"+query, "")
			a.mustBe(t, 400, fault.InvalidRequest)
			if len(a.problem.Errors) == 0 || a.problem.Errors[0].Pointer != pointer {
				t.Errorf("%s: %s", query, a.body)
			}
		}
	})
	t.Run("HEAD", func(t *testing.T) {
		if a := s.call(t, "HEAD", "/v1/orders", ""); a.status != 200 || a.body != "" {
			t.Errorf("%d %q", a.status, a.body)
		}
	})
}

func TestBodiesOfAnswers(t *testing.T) {
	s := newSample(t)
	t.Run("times in UTC", func(t *testing.T) {
		a := s.call(t, "POST", "/v1/orders", validOrder(), with("Authorization", token(t, auth.Customer)))
		if !strings.Contains(a.body, `"created_at":"2026-03-01T09:00:00Z"`) || strings.Contains(a.body, "$schema") {
			t.Error(a.body)
		}
	})
	t.Run("a list without items is []", func(t *testing.T) {
		if a := s.call(t, "GET", "/v1/orders", ""); !strings.HasPrefix(a.body, `{"items":[],"next_cursor":"`) {
			t.Error(a.body)
		}
	})
	t.Run("saved bytes", func(t *testing.T) {
		saved := `{"b":1,"a":"<я>","n":12345678901234567890}`
		got, err := httpapi.Encode(httpapi.Verbatim[order]([]byte(saved)))
		if err != nil || string(got) != saved {
			t.Errorf("%s, %v", got, err)
		}
	})
}

func TestFailures(t *testing.T) {
	s := newSample(t)
	const private = "password=hunter2"
	internal := fmt.Errorf("query: %s: %w", private, io.ErrUnexpectedEOF)
	for _, c := range []struct {
		name   string
		fail   any
		status int
		code   fault.Code
		retry  bool
		level  string // of the log line that carries the private text
	}{
		{"unforeseen", internal, 500, fault.Internal, false, "ERROR"},
		{"panic", func() { panic(private) }, 500, fault.Internal, false, "ERROR"},
		{"a body that can't be encoded", map[string]any{private: make(chan int)}, 500, fault.Internal, false, "ERROR"},
		{"internal by name", fault.New(fault.Internal, private), 500, fault.Internal, false, "ERROR"},
		{"a code that nobody knows", fault.New("no_such_code", private), 500, fault.Internal, false, "ERROR"},
		{"deadline", fmt.Errorf("%s: %w", private, context.DeadlineExceeded), 503, fault.Unavailable, true, "WARN"},
		{"transient", fmt.Errorf("%s: %w", private, io.ErrClosedPipe), 503, fault.Unavailable, true, "WARN"},
		{"outcome unknown", fault.New(fault.OutcomeUnknown, "?").Because(internal), 503, fault.OutcomeUnknown, true, "WARN"},
		{"in progress", fault.New(fault.RequestInProgress, "Wait."), 409, fault.RequestInProgress, true, ""},
		{"wrapped refusal", fmt.Errorf("%s: %w", private, fault.New(fault.NotFound, "No such order.")), 404, fault.NotFound, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.logs.Reset()
			s.fail = c.fail
			a := s.call(t, "GET", "/v1/fail", "")
			a.mustBe(t, c.status, c.code)
			if strings.Contains(a.body, private) {
				t.Errorf("private text came out: %s", a.body)
			}
			if got := a.header.Get("Retry-After"); (got == "1") != c.retry || a.problem.Retryable != c.retry {
				t.Errorf("Retry-After %q, retryable %v", got, a.problem.Retryable)
			}
			if c.level != "" && !logged(s.logs.String(), `"level":"`+c.level+`"`, private, a.problem.Instance) {
				t.Errorf("not in the log: %s", s.logs)
			}
		})
	}
	t.Run("members of a refusal", func(t *testing.T) {
		s.fail = fault.New(fault.OutOfStock, "Only 2 left.").With("dish_id", "d").With("left", 2).With("status", 200)
		a := s.call(t, "GET", "/v1/fail", "")
		a.mustBe(t, 409, fault.OutOfStock)
		for _, member := range []string{`"dish_id":"d"`, `"left":2`, `"detail":"Only 2 left."`, `"status":409`} {
			if !strings.Contains(a.body, member) {
				t.Errorf("no %s in %s", member, a.body)
			}
		}
	})
	t.Run("a panic in the middle of an answer breaks the connection", func(t *testing.T) {
		s.api.Handle("GET /half", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "half")
			panic("now")
		}))
		res, err := http.Get(s.url + "/half")
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil {
			t.Error("half an answer looks like a whole one")
		}
	})
	t.Run("a panic leaves nothing of the answer before it", func(t *testing.T) {
		s.api.Handle("GET /late", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/x")
			w.WriteHeader(201)
			panic("now")
		}))
		a := s.call(t, "GET", "/late", "")
		a.mustBe(t, 500, fault.Internal)
		if a.header.Get("Location") != "" {
			t.Error("a Location stayed")
		}
	})
}

func logged(logs string, parts ...string) bool {
	for line := range strings.Lines(logs) {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			return true
		}
	}
	return false
}

func TestAccessLog(t *testing.T) {
	s := newSample(t)
	a := s.call(t, "GET", "/v1/orders/x?secret=1", "", with("Authorization", "Bearer x"))
	if !logged(s.logs.String(), `"level":"DEBUG"`, `"method":"GET"`, `"route":"GET /v1/orders/{id}"`, `"status":401`,
		`"request_id":"`+a.header.Get("X-Request-Id")+`"`) || strings.Contains(s.logs.String(), "secret") {
		t.Error(s.logs)
	}
}

func TestKinds(t *testing.T) {
	want := map[int][]fault.Code{
		400: {fault.IdempotencyKeyInvalid, fault.InvalidRequest},
		401: {fault.Unauthenticated}, 403: {fault.Forbidden}, 404: {fault.NotFound}, 405: {fault.MethodNotAllowed},
		409: {fault.BelowMinimum, fault.DeadLetterDiscarded, fault.DishUnavailable, fault.EstablishmentClosed,
			fault.InvalidTransition, fault.OutOfStock, fault.PriceChanged, fault.RedriveLimit, fault.RequestInProgress,
			fault.StockChanged},
		413: {fault.PayloadTooLarge}, 415: {fault.UnsupportedMediaType},
		422: {fault.AccrualConflict, fault.IdempotencyKeyReused}, 429: {fault.TooManyRequests}, 500: {fault.Internal},
		502: {fault.PublishFailed}, 503: {fault.OutcomeUnknown, fault.Unavailable},
	}
	got := map[int][]fault.Code{}
	for _, k := range httpapi.Kinds() {
		got[k.Status] = append(got[k.Status], k.Code)
		if k.Title == "" || k.Advice == "" || strings.Contains(k.Slug(), "_") {
			t.Errorf("incomplete: %+v", k)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVerifierFailure(t *testing.T) {
	s := newAPI()
	broken := httpapi.New(httpapi.Config{Verifier: failing{}, Transient: func(error) bool { return true },
		Logger: s.logger()})
	httpapi.Register(broken, httpapi.Operation{ID: "x", Method: "GET", Path: "/x", Access: httpapi.SignedIn},
		func(context.Context, *struct{}) (*httpapi.Answer[int], error) { return httpapi.OK(1), nil })
	a := serve(t, broken, "GET", "/x", with("Authorization", "Bearer x"))
	if a.Code != 503 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

type failing struct{}

func (failing) Verify(context.Context, string) (auth.Identity, error) {
	return auth.Identity{}, errors.New("the key server is away")
}
