package e2e

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestTrace(t *testing.T) {
	keep(t,
		promise{"of a request goes through the records and the log lines that come of it", traceOfAnOrder},
		promise{"of a press is that of its record however often and by whom it is sent", traceOfAPress},
		promise{"begins where a client or a producer names none that is valid", traceBegins},
		promise{"log lines are JSON, name their request, and tell no secret", logOfARun},
	)
}

// newTracing is a process whose log is read, and a stage in it where nothing was ordered yet.
func newTracing(t *testing.T) *stage {
	t.Helper()
	s := soloSite(t, "--kafka-addr", "127.0.0.1:0", "--log-format", "json", "--log-level", "debug")
	return &stage{venue: openVenue(t, s, counted("pelmeni", 100)), bus: s.bus(t)}
}

// newTrace is a trace that a client began, by its id and as the traceparent that it sends.
func newTrace() (id, traceparent string) {
	hex := strings.ReplaceAll(uuid.NewString()+uuid.NewString(), "-", "")
	return hex[:32], "00-" + hex[:32] + "-" + hex[32:48] + "-01"
}

var validTrace = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$`)

// told are the records of the order on a topic.
func (s *stage) told(t *testing.T, topic string) (records []*kgo.Record) {
	t.Helper()
	for _, r := range s.bus.all(t, topic) {
		if string(r.Key) == s.id {
			records = append(records, r)
		}
	}
	return records
}

// wantTrace expects a record in a trace, and in another span than some, which it returns.
func wantTrace(t *testing.T, r *kgo.Record, id string, others ...string) (span string) {
	t.Helper()
	m := validTrace.FindStringSubmatch(header(r, "traceparent"))
	if m == nil || m[1] != id || slices.ContainsFunc(others, func(other string) bool { return strings.Contains(other, m[2]) }) {
		t.Fatalf("traceparent %q, want another span of trace %s than %q", header(r, "traceparent"), id, others)
	}
	return m[2]
}

// wantLine waits for a line of the log with these members.
func (s *stage) wantLine(t *testing.T, want map[string]any) {
	t.Helper()
	eventually(t, "a line with "+string(encode(want)), func() bool {
		return slices.ContainsFunc(logLines(t, s.kitchen), func(line map[string]any) bool {
			for name, value := range want {
				if line[name] != value {
					return false
				}
			}
			return true
		})
	})
}

// logLines are the lines of a process's log. What the program itself says to whoever started it is no part of the log.
func logLines(t *testing.T, p *process) (lines []map[string]any) {
	t.Helper()
	text := p.log.String()
	for text := range strings.Lines(text[:strings.LastIndex(text, "\n")+1]) {
		if strings.HasPrefix(text, "kuhnya: ") {
			continue
		}
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("not JSON in the log: %q: %v", text, err)
		}
		lines = append(lines, line)
	}
	return lines
}

func traceOfAnOrder(t *testing.T) {
	const bonuses = "kuhnya.bonuses"
	s := newTracing(t)
	placing, placeparent := newTrace()
	pressing, pressparent := newTrace()
	completing, completeparent := newTrace()
	placed := s.alice.send(t, "POST", "/v1/orders", s.portions(0, 1), "traceparent", placeparent).want(t, 201)
	s.id = into[order](t, placed).ID
	s.awaitTicket(t, s.id)
	pressed := s.pressIn(t, "accept", pressparent)
	s.pressIn(t, "start", "")
	s.pressIn(t, "ready", "")
	s.pressIn(t, "complete", completeparent)
	s.awaitTold(t, bonuses, 1)

	orders, statuses := s.told(t, ordersTopic), s.told(t, statusesTopic)
	wantTrace(t, orders[0], placing, placeparent)
	callback := wantTrace(t, statuses[0], pressing, pressparent)
	wantTrace(t, orders[1], pressing, pressparent, callback)
	callback = wantTrace(t, statuses[3], completing, completeparent)
	wantTrace(t, orders[4], completing, completeparent, callback)
	wantTrace(t, s.told(t, bonuses)[0], completing, completeparent, callback)

	type line = map[string]any
	request := func(r response) string { return r.header.Get("X-Request-Id") }
	for _, want := range []line{
		{"level": "INFO", "msg": "order placed", "service": "kitchen", "trace_id": placing, "request_id": request(placed)},
		{"level": "DEBUG", "msg": "request served", "route": "POST /v1/orders", "trace_id": placing, "request_id": request(placed)},
		{"level": "DEBUG", "msg": "record settled", "service": "establishment", "topic": ordersTopic, "trace_id": placing},
		{"level": "INFO", "msg": "ticket advanced", "service": "establishment", "from": "placed", "to": "accepted",
			"trace_id": pressing, "request_id": request(pressed)},
		{"level": "DEBUG", "msg": "request served", "route": "POST /v1/tickets/{order_id}/advance",
			"trace_id": pressing, "request_id": request(pressed)},
		{"level": "INFO", "msg": "order status changed", "service": "kitchen", "from": "placed", "to": "accepted",
			"actor_kind": "staff", "trace_id": pressing},
		{"level": "DEBUG", "msg": "record settled", "service": "kitchen", "topic": statusesTopic, "trace_id": pressing},
		{"level": "DEBUG", "msg": "record settled", "service": "establishment", "topic": ordersTopic, "trace_id": pressing},
		{"level": "INFO", "msg": "order evaluated", "service": "bonus", "trace_id": completing},
		{"level": "DEBUG", "msg": "record settled", "service": "bonus", "topic": ordersTopic, "trace_id": completing},
	} {
		want["order_id"] = s.id
		s.wantLine(t, want)
	}
}

// pressIn presses a button as part of a trace.
func (s *stage) pressIn(t *testing.T, action, traceparent string) response {
	t.Helper()
	return s.cook.send(t, "POST", "/v1/tickets/"+s.id+"/advance", pressing(action), "traceparent", traceparent).want(t, 200)
}

// awaitTold waits until a topic has so many records of the order.
func (s *stage) awaitTold(t *testing.T, topic string, n int) {
	t.Helper()
	eventually(t, "records of the order", func() bool { return len(s.told(t, topic)) >= n })
}

func traceOfAPress(t *testing.T) {
	s := newTracing(t)
	s.id = s.placed(t, s.portions(0, 1)).ID
	s.awaitTicket(t, s.id)
	id, traceparent := newTrace()
	_, another := newTrace()
	s.pressIn(t, "accept", traceparent)
	s.pressIn(t, "accept", another)
	sent := s.told(t, statusesTopic)
	if len(sent) != 2 {
		t.Fatalf("%d records, want 2", len(sent))
	}
	wantTrace(t, sent[0], id)
	if diff := cmp.Diff(sent[0].Headers, sent[1].Headers); diff != "" {
		t.Errorf("headers (-first +second):\n%s", diff)
	}
}

func traceBegins(t *testing.T) {
	s := newTracing(t)
	given, valid := newTrace()
	for _, traceparent := range []string{"", "secret", strings.ToUpper(valid), strings.Replace(valid, given, strings.Repeat("0", 32), 1)} {
		answer := s.alice.send(t, "POST", "/v1/orders", s.portions(0, 1), "traceparent", traceparent).want(t, 201)
		s.id = into[order](t, answer).ID
		s.awaitTicket(t, s.id)
		s.bus.report(t, s.venue, "", s.id, "accepted") // a record that names none either
		s.awaitTold(t, ordersTopic, 2)
		for _, r := range s.told(t, ordersTopic) {
			if m := validTrace.FindStringSubmatch(header(r, "traceparent")); m == nil || m[1] == given {
				t.Errorf("after %q: %q", traceparent, header(r, "traceparent"))
			}
		}
		if all := strings.ToLower(string(encode(answer.header))); strings.Contains(all, "traceparent") || strings.Contains(all, given) {
			t.Errorf("the answer echoes %q: %s", traceparent, all)
		}
	}
}

// logOfARun looks at all that a process wrote while secrets passed through everything that takes them.
func logOfARun(t *testing.T) {
	s := newTracing(t)
	secret := "secret-" + uuid.NewString()
	request := s.portions(0, 1)
	request.Comment = secret
	headers := []string{"Idempotency-Key", secret, "User-Agent", secret, "traceparent", secret, "tracestate", secret, "Cookie", secret}
	s.id = into[order](t, s.alice.send(t, "POST", "/v1/orders", request, headers...).want(t, 201)).ID
	s.alice.send(t, "POST", "/v1/orders", request, headers...).want(t, 200)
	s.alice.send(t, "POST", "/v1/orders", s.portions(0, 2), headers...).want(t, 422)
	s.alice.send(t, "POST", "/v1/orders", `{"`+secret+`":1}`, headers...).want(t, 400)
	s.alice.send(t, "POST", "/v1/orders?"+secret+"=1", request, headers...).want(t, 400)
	s.alice.send(t, "GET", "/v1/"+secret, nil, headers...).want(t, 404)
	client{site: s.site, token: secret}.send(t, "GET", "/v1/orders/"+s.id, nil).want(t, 401)
	s.awaitTicket(t, s.id)
	s.robot.send(t, "POST", "/v1/orders/"+s.id+"/status", map[string]string{"status": "accepted"}, headers...).want(t, 200)
	s.awaitTicketStatus(t, s.id, "accepted")
	s.cook.send(t, "POST", "/v1/tickets/"+s.id+"/advance", map[string]string{"action": "cancel", "reason": secret}, headers...).want(t, 200)
	s.awaitOrder(t, s.id, "cancelled")
	sent := s.bus.send(t, poison(statusesTopic, s.id, withHeader("idempotency-key", secret), withHeader("traceparent", secret)))
	s.bus.send(t, s.callbackRecord("accepted", withHeader("idempotency-key", secret+",")))
	s.bus.send(t, &kgo.Record{Topic: statusesTopic, Key: []byte(secret), Value: []byte("{}")})
	s.bus.settleStatuses(t)
	s.wantLine(t, map[string]any{
		"level": "WARN", "msg": "dead letter", "service": "kitchen", "code": "invalid_request", "order_id": s.id,
		"topic": statusesTopic, "partition": float64(sent.Partition), "offset": float64(sent.Offset),
	})
	s.kitchen.stop(t)

	for _, hidden := range []string{secret, s.alice.token, s.cook.token, s.robot.token, s.alice.subject} {
		if at := strings.Index(s.kitchen.log.String(), hidden); at >= 0 {
			t.Errorf("%.12s… is in the log: …%.400s", hidden, s.kitchen.log.String()[max(0, at-200):])
		}
	}
	for _, line := range logLines(t, s.kitchen) {
		_, named := line["request_id"]
		if served := []any{"request served", "order placed", "ticket advanced"}; slices.Contains(served, line["msg"]) && !named {
			t.Errorf("a line of which request? %v", line)
		}
	}
}
