package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/trace"
)

var (
	key           = auth.Key{7}
	establishment = uuid.MustParse("0190a000-0000-7000-8000-000000000001")
)

type line struct {
	DishID   httpapi.ID `json:"dish_id"`
	Quantity int64      `json:"quantity" minimum:"1" maximum:"100"`
	Expected *int64     `json:"expected_price,omitempty" minimum:"0"`
}

type placeBody struct {
	EstablishmentID httpapi.ID `json:"establishment_id"`
	Lines           []line     `json:"lines" minItems:"1" maxItems:"50"`
	Comment         string     `json:"comment,omitempty" maxLength:"500" pattern:"^[^\t]*$" patternDescription:"text without tabs"`
}

type order struct {
	ID        httpapi.ID `json:"id"`
	User      string     `json:"user_id"`
	Key       string     `json:"idempotency_key,omitempty"`
	Comment   string     `json:"comment,omitempty"`
	Lines     []line     `json:"lines"`
	CreatedAt time.Time  `json:"created_at"`
}

// sample is a small API with one operation of each form, over a real server.
type sample struct {
	api  *httpapi.API
	url  string
	logs *bytes.Buffer // written before each answer ends

	// fail is what GET /v1/fail returns or, as a func(), does.
	fail any
	// placed counts the orders that reached the handler.
	placed int
}

func newSample(t *testing.T) *sample {
	s := newAPI()
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = httpapi.NewServer("", s.api.Handler())
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.Start()
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

func newAPI() *sample {
	s := &sample{logs: new(bytes.Buffer)}
	s.api = httpapi.New(httpapi.Config{
		Title: "Sample", Version: "1", Description: "For tests.",
		Verifier:  auth.NewVerifier(key),
		ParseKey:  parseKey,
		Transient: func(err error) bool { return errors.Is(err, io.ErrClosedPipe) },
		Logger:    slog.New(trace.Logs(slog.NewJSONHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	})
	httpapi.Register(s.api, httpapi.Operation{
		ID: "place-order", Method: http.MethodPost, Path: "/v1/orders", Summary: "Place an order", Tags: []string{"orders"},
		Access: httpapi.Only(auth.Customer), Success: []int{201, 200}, HonoursKey: true,
		Codes: []fault.Code{fault.OutOfStock, fault.RequestInProgress, fault.IdempotencyKeyReused},
	}, s.place)
	httpapi.Register(s.api, httpapi.Operation{
		ID: "get-order", Method: http.MethodGet, Path: "/v1/orders/{id}", Summary: "Show an order", Access: httpapi.SignedIn,
	}, s.get)
	httpapi.Register(s.api, httpapi.Operation{
		ID: "list-orders", Method: http.MethodGet, Path: "/v1/orders", Summary: "List orders", Access: httpapi.Anyone,
	}, s.list)
	httpapi.Register(s.api, httpapi.Operation{
		ID: "cancel-order", Method: http.MethodPost, Path: "/v1/orders/{id}/cancel", Summary: "Cancel", Access: httpapi.SignedIn,
	}, s.cancel)
	httpapi.Register(s.api, httpapi.Operation{
		ID: "fail", Method: http.MethodGet, Path: "/v1/fail", Summary: "Fail", Access: httpapi.Anyone,
	}, s.failing)
	return s
}

func parseKey(lines []string) (string, bool, error) {
	switch {
	case len(lines) == 0:
		return "", false, nil
	case len(lines) > 1 || lines[0] == "" || len(lines[0]) > 255:
		return "", true, errors.New("bad key")
	}
	return lines[0], true, nil
}

func (s *sample) place(ctx context.Context, in *struct{ Body placeBody }) (*httpapi.Replayable[order], error) {
	s.placed++
	id, _ := auth.FromContext(ctx)
	key, _ := httpapi.IdempotencyKey(ctx)
	o := order{User: id.Subject, Key: key, Comment: in.Body.Comment, Lines: in.Body.Lines,
		CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("MSK", 3*3600))}
	if key == "again" {
		return httpapi.Replay(200, "/v1/orders/1", o), nil
	}
	return httpapi.Done(201, "/v1/orders/1", o), nil
}

func (s *sample) get(_ context.Context, in *struct {
	ID httpapi.ID `path:"id"`
}) (*httpapi.Answer[order], error) {
	return httpapi.OK(order{ID: in.ID}), nil
}

type position struct {
	Name string `json:"name"`
	No   int64  `json:"no"`
}

func (s *sample) list(ctx context.Context, in *struct {
	httpapi.Page
	Status string `query:"status" enum:"placed,accepted"`
}) (*httpapi.Answer[httpapi.List[order]], error) {
	at, first, err := httpapi.DecodeCursor[position](in.Cursor)
	if err != nil {
		return nil, err
	}
	if first {
		at.No = int64(in.Limit)
	}
	id, _ := auth.FromContext(ctx)
	next, err := httpapi.EncodeCursor(position{Name: id.Subject, No: at.No + 1})
	return httpapi.OK(httpapi.List[order]{NextCursor: next}), err
}

func (s *sample) cancel(_ context.Context, in *struct {
	ID   httpapi.ID `path:"id"`
	Body *struct {
		Reason string `json:"reason"`
	}
}) (*httpapi.Answer[string], error) {
	if in.Body == nil {
		return httpapi.OK("no reason"), nil
	}
	return httpapi.OK(in.Body.Reason), nil
}

func (s *sample) failing(context.Context, *struct{}) (*httpapi.Answer[any], error) {
	switch f := s.fail.(type) {
	case error:
		return nil, f
	case func():
		f()
	}
	return httpapi.OK(s.fail), nil
}

func token(t *testing.T, role auth.Role) string {
	t.Helper()
	id := auth.Identity{Subject: "alice", Role: role}
	if role == auth.Staff {
		id.EstablishmentID = establishment
	}
	token, err := auth.NewIssuer(key).Issue(id, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + token
}

type answer struct {
	status  int
	header  http.Header
	body    string
	problem httpapi.Problem // if it is one
}

type edit func(*http.Request)

func with(name string, lines ...string) edit {
	return func(r *http.Request) { r.Header[name] = lines }
}

func (s *sample) call(t *testing.T, method, path, body string, edits ...edit) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, e := range edits {
		e(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, body: string(data)}
	if res.Header.Get("Content-Type") == "application/problem+json" {
		if err := json.Unmarshal(data, &a.problem); err != nil {
			t.Fatalf("problem %q: %v", data, err)
		}
	}
	return a
}

// mustBe fails unless the answer is the problem that code and status say, complete and with this request's id.
func (a answer) mustBe(t *testing.T, status int, code fault.Code) {
	t.Helper()
	p := a.problem
	if a.status != status || p.Status != status || p.Code != code {
		t.Fatalf("answer %d %s, want %d %s", a.status, a.body, status, code)
	}
	slug := strings.ReplaceAll(string(code), "_", "-")
	if p.Type != "/problems/"+slug || p.Title == "" || p.Detail == "" || p.Instance == "" ||
		p.Instance != a.header.Get("X-Request-Id") || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("incomplete problem %s with %v", a.body, a.header)
	}
}

func validOrder() string { return orderOf(`"quantity":2`) }

func orderOf(quantity string) string {
	return fmt.Sprintf(`{"establishment_id":%q,"lines":[{"dish_id":%q,%s}]}`, establishment, establishment, quantity)
}
