package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/slogtest"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/trace"
)

func TestLogs_adds_what_the_context_carries(t *testing.T) {
	none := context.Background()
	request := trace.WithRequestID(none, "r1")
	for name, c := range map[string]struct {
		ctx  context.Context
		want map[string]any
	}{
		"nothing":                {none, map[string]any{}},
		"a request":              {request, map[string]any{"request_id": "r1"}},
		"a trace":                {trace.WithParent(none, given), map[string]any{"trace_id": traceID}},
		"both":                   {trace.WithParent(request, given), map[string]any{"request_id": "r1", "trace_id": traceID}},
		"no traceparent":         {trace.WithParent(request, ""), map[string]any{"request_id": "r1"}},
		"an invalid traceparent": {trace.WithParent(request, "no"), map[string]any{"request_id": "r1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(trace.Logs(slog.NewJSONHandler(&out, nil))).With("service", "kitchen")
			log.InfoContext(c.ctx, "order placed", "order_id", "o1")
			c.want["order_id"], c.want["service"] = "o1", "kitchen"
			if diff := cmp.Diff(c.want, line(t, out.Bytes())); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

// line is a line of JSON without what every line has.
func line(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for _, name := range []string{"time", "level", "msg"} {
		delete(members, name)
	}
	return members
}

func TestLogs_is_a_handler_like_any_other(t *testing.T) {
	var out bytes.Buffer
	err := slogtest.TestHandler(trace.Logs(slog.NewJSONHandler(&out, nil)), func() (lines []map[string]any) {
		for text := range bytes.Lines(out.Bytes()) {
			var members map[string]any
			if err := json.Unmarshal(text, &members); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			lines = append(lines, members)
		}
		return lines
	})
	if err != nil {
		t.Error(err)
	}
}
