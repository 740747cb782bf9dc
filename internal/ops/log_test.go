package ops_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/consume"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/fault"
	"kuhnya/internal/ops"
	"kuhnya/internal/trace"
)

// TestLog: one line for each thing that was done, in the trace of the request that asked for it.
func TestLog(t *testing.T) {
	const request, record = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	store := messagesql.NewDeadLetters(messages(t))
	order := uuid.NewString()
	for offset := range int64(2) {
		must(t, store.Save(t.Context(), consume.DeadLetter{
			Group: "kitchen", Topic: "statuses", Partition: 3, Offset: offset, Key: []byte(order), Value: []byte("secret"),
			Headers: []consume.Header{{Key: "traceparent", Value: []byte(record)}, {Key: "idempotency-key", Value: []byte("secret")}},
		}))
	}
	letters, err := store.DeadLetters(t.Context(), ops.Open, uuid.Nil, 10)
	must(t, err)

	var log bytes.Buffer
	rules := ops.NewDeadLetters(store, func() {}).LogTo(slog.New(trace.Logs(slog.NewJSONHandler(&log, nil))))
	ctx := trace.WithRequestID(trace.WithParent(t.Context(), request), "r1")
	for range 2 {
		_, redriven := rules.Redrive(ctx, letters[0].ID)
		_, discarded := rules.Discard(ctx, letters[1].ID, "secret")
		must(t, redriven)
		must(t, discarded)
	}
	if _, err := rules.Redrive(ctx, letters[1].ID); fault.CodeOf(err) != fault.DeadLetterDiscarded {
		t.Error(err)
	}

	var got []map[string]any
	for text := range bytes.Lines(log.Bytes()) {
		var line map[string]any
		must(t, json.Unmarshal(text, &line))
		delete(line, "time")
		got = append(got, line)
	}
	var want []map[string]any
	for i, message := range []string{"dead letter redriven", "dead letter discarded"} {
		want = append(want, map[string]any{
			"level": "INFO", "msg": message, "dead_letter_id": letters[i].ID.String(), "group": "kitchen", "topic": "statuses",
			"partition": 3., "offset": float64(i), "order_id": order, "request_id": "r1", "trace_id": trace.ID(request),
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
