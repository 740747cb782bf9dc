package establishment_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/establishment"
	"kuhnya/internal/establishment/establishmenttest"
	"kuhnya/internal/fault"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/trace"
)

func TestLog(t *testing.T) {
	inBubble(t, func(b *board) {
		id := b.placed()
		ctx := trace.WithRequestID(b.Context(), "r1")
		press := establishment.Press{
			OrderID: id, EstablishmentID: establishmenttest.Place, Action: lifecycle.Accept, Trace: trace.New(),
		}
		b.broker.Play(establishmenttest.Away)
		for range 2 {
			if _, err := b.service.Advance(ctx, press); fault.CodeOf(err) != fault.PublishFailed {
				b.Fatal(err)
			}
		}
		b.broker.Play(nil)
		establishment.NewSweeper(b.service, establishment.SweepOptions{}).Sweep(b.Context())
		press.Action, press.Reason = lifecycle.Cancel, "secret"
		if _, err := b.service.Advance(ctx, press); err != nil {
			b.Fatal(err)
		}
		press.Action = lifecycle.Start
		if _, err := b.service.Advance(ctx, press); fault.CodeOf(err) != fault.InvalidTransition {
			b.Fatal(err)
		}
		type line = map[string]any
		want := []line{
			{"level": "INFO", "msg": "ticket advanced", "from": "placed", "to": "accepted", "request_id": "r1"},
			{"level": "DEBUG", "msg": "press repeated", "from": "", "to": "accepted", "request_id": "r1"},
			{"level": "INFO", "msg": "step swept", "status": "accepted"},
			{"level": "INFO", "msg": "ticket advanced", "from": "accepted", "to": "cancelled", "request_id": "r1"},
		}
		for _, w := range want {
			w["order_id"], w["trace_id"] = id.String(), trace.ID(press.Trace)
		}
		if diff := cmp.Diff(want, b.lines()); diff != "" {
			b.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// newLog is a log of which [board.lines] reads the lines.
func (b *board) newLog() *slog.Logger {
	return slog.New(trace.Logs(slog.NewJSONHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// lines are the lines of the log, without their time.
func (b *board) lines() (lines []map[string]any) {
	b.Helper()
	for text := range bytes.Lines(b.log.Bytes()) {
		var line map[string]any
		if err := json.Unmarshal(text, &line); err != nil {
			b.Fatalf("%q: %v", text, err)
		}
		delete(line, "time")
		lines = append(lines, line)
	}
	return lines
}
