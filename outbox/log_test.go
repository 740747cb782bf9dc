package outbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kuhnya/outbox"
)

func TestRelayLog(t *testing.T) {
	play(t, map[string]func(scene){
		"names_the_row_that_is_parked": func(s scene) {
			s.broker.refuse = func(outbox.Row) error { return outbox.ErrUnpublishable }
			s.wantLine(map[string]any{"level": "ERROR", "msg": "outbox row parked", "reason": outbox.ErrUnpublishable.Error()})
		},
		"names_the_first_row_that_failed": func(s scene) {
			var tries atomic.Int64
			s.broker.refuse = func(outbox.Row) error {
				if tries.Add(1) == 1 {
					return errAway
				}
				return nil
			}
			s.wantLine(map[string]any{"level": "WARN", "msg": "outbox rows not published", "rows": 1., "keys": 1., "error": errAway.Error()})
		},
		"names_a_row_that_could_not_be_parked": func(s scene) {
			s.broker.refuse = func(outbox.Row) error { return outbox.ErrUnpublishable }
			tries := 0
			s.store.set(func(op string) error {
				if op == "park" {
					if tries++; tries == 1 {
						return errors.New("disk full")
					}
				}
				return nil
			})
			s.wantLine(map[string]any{"level": "WARN", "msg": "outbox row not parked", "error": "disk full"})
		},
	})
}

// wantLine relays one row and expects one such line, with what names the row.
func (s scene) wantLine(want map[string]any) {
	s.Helper()
	row := msg("order 7", "secret")
	add(s.T, s.table, row)
	var log bytes.Buffer
	o := s.options()
	o.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	o.Describe = func(m outbox.Message) []slog.Attr { return []slog.Attr{slog.String("order_id", m.Key)} }
	p := start(s.T, o)
	after(time.Minute)
	p.end(s.T)
	want["event_id"], want["topic"], want["outbox_id"], want["order_id"] = row.EventID.String(), "orders", 1., "order 7"
	var found []map[string]any
	for text := range bytes.Lines(log.Bytes()) {
		var line map[string]any
		if err := json.Unmarshal(text, &line); err != nil {
			s.Fatalf("%q: %v", text, err)
		}
		if delete(line, "time"); line["msg"] == want["msg"] {
			found = append(found, line)
		}
	}
	if diff := cmp.Diff([]map[string]any{want}, found); diff != "" {
		s.Errorf("lines (-want +got):\n%s", diff)
	}
	if bytes.Contains(log.Bytes(), []byte("secret")) {
		s.Error("the payload is in the log")
	}
}
