package httpapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/trace"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// traced is a sample with an operation that answers with the traceparent in which it runs.
func traced() *sample {
	s := newAPI()
	httpapi.Register(s.api, httpapi.Operation{
		ID: "trace", Method: http.MethodGet, Path: "/v1/trace", Summary: "Trace", Access: httpapi.Anyone,
	}, func(ctx context.Context, _ *struct{}) (*httpapi.Answer[string], error) {
		return httpapi.OK(trace.Parent(ctx)), nil
	})
	return s
}

func TestTrace(t *testing.T) {
	s := traced()
	given := trace.ID(traceparent)
	for _, c := range []struct {
		name  string
		lines []string
		joins bool
	}{
		{"a valid one", []string{traceparent}, true},
		{"one of a later version", []string{"01" + traceparent[2:] + "-more"}, true},
		{"none", nil, false},
		{"an empty one", []string{""}, false},
		{"an invalid one", []string{strings.ToUpper(traceparent)}, false},
		{"two", []string{traceparent, traceparent}, false},
		{"two in one line", []string{traceparent + ", " + traceparent}, false},
		{"a long one", []string{strings.Repeat("a", 10_000)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.logs.Reset()
			a := serve(t, s.api, "GET", "/v1/trace", with("Traceparent", c.lines...))
			var served string
			if err := json.Unmarshal(a.Body.Bytes(), &served); err != nil || a.Code != 200 {
				t.Fatalf("%d %s", a.Code, a.Body)
			}
			if id := trace.ID(served); id == "" || (id == given) != c.joins || served == traceparent {
				t.Errorf("served in %q", served)
			}
			if !logged(s.logs.String(), `"trace_id":"`+trace.ID(served)+`"`, `"request_id":"`+a.Header().Get("X-Request-Id")+`"`) {
				t.Error(s.logs)
			}
			if answered := a.Header().Values("Traceparent"); answered != nil {
				t.Errorf("answered with traceparent %v", answered)
			}
		})
	}
}

func TestTrace_of_each_request_is_a_span_of_its_own(t *testing.T) {
	s := traced()
	ask := func() string {
		return serve(t, s.api, "GET", "/v1/trace", with("Traceparent", traceparent)).Body.String()
	}
	if first, second := ask(), ask(); first == second {
		t.Errorf("%s twice", first)
	}
}

// Thing is exported because only then are embedded fields read.
type Thing struct {
	ID httpapi.ID `path:"id"`
}

func (t Thing) LogAttr() slog.Attr { return slog.String("order_id", t.ID.String()) }

// TestLog_of_a_request says what each outcome leaves in the log, line by line, without what every line has.
func TestLog_of_a_request(t *testing.T) {
	s := newAPI()
	httpapi.Register(s.api, httpapi.Operation{
		ID: "do", Method: http.MethodPost, Path: "/v1/things/{id}", Summary: "Do", Access: httpapi.Only(auth.Customer),
		HonoursKey: true, Codes: []fault.Code{fault.OutOfStock, fault.PublishFailed},
	}, func(ctx context.Context, in *struct {
		Thing
		Body *struct{}
	}) (*httpapi.Replayable[int], error) {
		httpapi.Annotate(ctx, slog.String("learnt", "late"))
		if err, ok := s.fail.(error); ok {
			return nil, err
		}
		return httpapi.Replay(200, "", 1), nil
	})
	path := "/v1/things/" + establishment.String()
	type line = map[string]any
	for _, c := range []struct {
		name string
		path string
		fail error
		edit edit
		want []line
	}{
		{"a replay", path, nil, nil, []line{
			{"level": "DEBUG", "msg": "request served", "route": "POST /v1/things/{id}", "status": 200., "replayed": true,
				"order_id": establishment.String(), "learnt": "late"}}},
		{"a refusal", path, fault.New(fault.OutOfStock, "No."), nil, []line{
			{"level": "DEBUG", "msg": "request served", "route": "POST /v1/things/{id}", "status": 409., "code": "out_of_stock",
				"order_id": establishment.String(), "learnt": "late"}}},
		{"a failure", path, fault.New(fault.PublishFailed, "No."), nil, []line{
			{"level": "WARN", "msg": "request not served", "code": "publish_failed", "error": "publish_failed: No.",
				"order_id": establishment.String(), "learnt": "late"},
			{"level": "DEBUG", "msg": "request served", "route": "POST /v1/things/{id}", "status": 502., "code": "publish_failed",
				"order_id": establishment.String(), "learnt": "late"}}},
		{"a request that the guard refuses", path, nil, with("Authorization"), []line{
			{"level": "DEBUG", "msg": "request served", "route": "POST /v1/things/{id}", "status": 401., "code": "unauthenticated"}}},
		{"a request of a wrong shape", path + "?x=1", nil, nil, []line{
			{"level": "DEBUG", "msg": "request served", "route": "POST /v1/things/{id}", "status": 400., "code": "invalid_request"}}},
		{"a path that leads nowhere", "/v1/nothing", nil, nil, []line{
			{"level": "DEBUG", "msg": "request served", "route": "", "status": 404., "code": "not_found"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.logs.Reset()
			s.fail = c.fail
			edits := []edit{with("Authorization", token(t, auth.Customer)), with("Idempotency-Key", "secret-key"),
				with("User-Agent", "secret-agent"), with("Traceparent", traceparent)}
			if c.edit != nil {
				edits = append(edits, c.edit)
			}
			a := serve(t, s.api, "POST", c.path, edits...)
			if diff := cmp.Diff(c.want, linesOf(t, s, a.Header().Get("X-Request-Id"))); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
			if strings.Contains(s.logs.String(), "secret") || strings.Contains(s.logs.String(), "Bearer") {
				t.Errorf("what must not be in a log is: %s", s.logs)
			}
		})
	}
}

// linesOf returns the lines of the log, each of which must have the id and trace of the request.
func linesOf(t *testing.T, s *sample, requestID string) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(s.logs.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if line["request_id"] != requestID || line["trace_id"] != trace.ID(traceparent) {
			t.Errorf("not of the request: %s", text)
		}
		for _, name := range []string{"time", "duration", "method", "request_id", "trace_id"} {
			delete(line, name)
		}
		lines = append(lines, line)
	}
	return lines
}
