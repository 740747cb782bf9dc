package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestOrderStream(t *testing.T) {
	keep(t,
		promise{"each step is seen once, in order, until the order is over", streamSteps},
		promise{"a client that comes back gets what it missed and nothing else", streamComesBack},
		promise{"a change made by another process is seen", streamOfTwins},
		promise{"a change is seen though the broker is away, and steps again when it is back", streamWithoutBroker},
		promise{"records that come again show nothing again", streamRepeatedRecords},
		promise{"an order of somebody else has no stream", streamOfStranger},
		promise{"stopping the process ends streams in good order", streamShutdown},
	)
}

// eventStream is an answer of events that is being read.
type eventStream struct {
	answer *http.Response
	lines  *bufio.Reader
	beats  int // heartbeats so far
}

// shown is one event of an order's stream.
type shown struct {
	id, name string
	order    order
	data     string
}

// streams has a client without a time-out: a stream may last.
var streams = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// follow opens the stream of an order, after an event that was seen unless that is 0.
func (c client) follow(t testing.TB, id string, seen int) *eventStream {
	t.Helper()
	s := c.tryFollow(t, id, seen)
	if s.answer.StatusCode != 200 || s.answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("stream: %d %v", s.answer.StatusCode, s.answer.Header)
	}
	return s
}

func (c client) tryFollow(t testing.TB, id string, seen int) *eventStream {
	t.Helper()
	request, err := c.request("GET", "/v1/orders/"+id+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	if seen > 0 {
		request.Header.Set("Last-Event-ID", strconv.Itoa(seen))
	}
	ctx, cancel := context.WithCancel(withPatience(t))
	t.Cleanup(cancel)
	answer, err := streams.Do(request.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return &eventStream{answer: answer, lines: bufio.NewReader(answer.Body)}
}

func (s *eventStream) close() { s.answer.Body.Close() }

// next waits for the next event. Frames without data are heartbeats.
func (s *eventStream) next(t testing.TB) (e shown) {
	t.Helper()
	for e.data == "" {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("stream ended: %v", err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case ":":
			s.beats++
		}
	}
	if err := json.Unmarshal([]byte(e.data), &e.order); err != nil {
		t.Fatalf("data %q: %v", e.data, err)
	}
	wantObject(t, "Order", e.data)
	return e
}

// wants fails unless the next event is the order's change to a status, in full.
func (s *eventStream) wants(t testing.TB, seq int64, status string) shown {
	t.Helper()
	e := s.next(t)
	o := e.order
	if e.id != strconv.FormatInt(seq, 10) || e.name != "status" || o.Seq != seq || o.Status != status {
		t.Fatalf("event %s %q shows seq %d, %s; want %d, %s", e.id, e.name, o.Seq, o.Status, seq, status)
	}
	if o.Code == "" || len(o.Lines) != 1 || o.Total.Amount == 0 {
		t.Errorf("not the whole order: %s", e.data)
	}
	return e
}

// wantsEnd fails unless the stream ends now, and as it should.
func (s *eventStream) wantsEnd(t testing.TB) {
	t.Helper()
	rest, err := io.ReadAll(s.lines)
	if err != nil || strings.Contains(string(rest), "data") {
		t.Errorf("instead of the end: %q, %v", rest, err)
	}
}

// steps are the buttons of the board until an order is done, and where each leads.
var steps = []struct{ action, status string }{
	{"accept", "accepted"}, {"start", "cooking"}, {"ready", "ready"}, {"complete", "completed"},
}

func streamSteps(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	mine, theirs := v.alice.follow(t, id, 0), v.cook.follow(t, id, 0)
	for _, s := range []*eventStream{mine, theirs} {
		s.wants(t, 1, "placed")
	}
	v.awaitTicket(t, id)
	for i, step := range steps {
		v.cook.press(t, id, step.action).want(t, 200)
		v.cook.press(t, id, step.action).want(t, 200)
		e := mine.wants(t, int64(i+2), step.status)
		if now := string(v.alice.send(t, "GET", "/v1/orders/"+id, nil).body); strings.TrimSpace(now) != e.data {
			t.Errorf("the event shows %s, the order is %s", e.data, now)
		}
		theirs.wants(t, int64(i+2), step.status)
	}
	mine.wantsEnd(t)
	theirs.wantsEnd(t)
	if mine.beats >= len(steps) {
		t.Errorf("%d heartbeats for %d steps: nobody told the stream", mine.beats, len(steps))
	}
	over := v.alice.tryFollow(t, id, 5)
	if over.answer.StatusCode != 204 {
		t.Errorf("coming back after the end: %d", over.answer.StatusCode)
	}
}

func streamComesBack(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	s := v.alice.follow(t, id, 0)
	s.wants(t, 1, "placed")
	s.close()
	v.robot.report(t, "", id, "accepted").want(t, 200)
	v.robot.report(t, "", id, "cooking").want(t, 200)
	s = v.alice.follow(t, id, 1)
	s.wants(t, 2, "accepted")
	s.wants(t, 3, "cooking")
	s.close()
	s = v.alice.follow(t, id, 3)
	v.robot.report(t, "", id, "ready").want(t, 200)
	s.wants(t, 4, "ready")
	v.alice.follow(t, id, 99).wants(t, 4, "ready")
	v.cook.report(t, "", id, "completed").want(t, 200)
	s.wants(t, 5, "completed")
	s.wantsEnd(t)
}

func streamOfTwins(t *testing.T) {
	twins := twinSites(t)
	v := openVenue(t, twins[0], counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	s := v.alice.at(twins[1]).follow(t, id, 0)
	s.wants(t, 1, "placed")
	for i, step := range steps {
		v.robot.report(t, "", id, step.status).want(t, 200)
		s.wants(t, int64(i+2), step.status)
	}
	s.wantsEnd(t)
	if s.beats >= len(steps) {
		t.Errorf("%d heartbeats for %d steps: the other process was not heard", s.beats, len(steps))
	}
}

func streamWithoutBroker(t *testing.T) {
	v, id := newOutage(t)
	s := v.alice.follow(t, id, 0)
	s.wants(t, 1, "placed")
	v.robot.report(t, "", id, "accepted").want(t, 200)
	s.wants(t, 2, "accepted")
	v.broker.restart(t)
	v.awaitTicketStatus(t, id, "accepted")
	for i, step := range steps[1:] {
		eventually(t, "published", func() bool { return v.cook.press(t, id, step.action).status == 200 })
		s.wants(t, int64(i+3), step.status)
	}
	s.wantsEnd(t)
}

// streamRepeatedRecords puts each record of an order on the topic again, as it was and as a redrive.
func streamRepeatedRecords(t *testing.T) {
	v := openVenue(t, soloSite(t, "--kafka-addr", "127.0.0.1:0"), counted("pelmeni", 100))
	bus := v.bus(t)
	id := v.placed(t, v.portions(0, 1)).ID
	s := v.alice.follow(t, id, 0)
	s.wants(t, 1, "placed")
	for i, step := range steps {
		v.robot.report(t, "", id, step.status).want(t, 200)
		s.wants(t, int64(i+2), step.status)
		if step.status != "completed" {
			bus.repeatOrders(t)
		}
	}
	s.wantsEnd(t)
}

// repeatOrders produces all records of the topic of orders twice more, once as somebody redrives them.
func (b bus) repeatOrders(t *testing.T) {
	t.Helper()
	for _, r := range b.all(t, ordersTopic) {
		again := &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Headers: r.Headers}
		redriven := *again
		redriven.Headers = append(r.Headers[:len(r.Headers):len(r.Headers)],
			kgo.RecordHeader{Key: "x-dlq-redrive-group", Value: []byte("establishment")})
		if err := b.client.ProduceSync(withPatience(t), again, &redriven).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	b.settle(t, "establishment", ordersTopic)
}

func streamOfStranger(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	path := "/v1/orders/" + id + "/stream"
	v.customer(t, newName("bob")).send(t, "GET", path, nil).wantProblem(t, 404, "not_found")
	v.alice.send(t, "GET", "/v1/orders/"+newKey()+"/stream", nil).wantProblem(t, 404, "not_found")
	v.robot.send(t, "GET", path, nil).wantProblem(t, 403, "forbidden")
	client{site: v.site}.send(t, "GET", path, nil).wantProblem(t, 401, "unauthenticated")
}

func streamShutdown(t *testing.T) {
	v := openVenue(t, soloSite(t), counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	s := v.alice.follow(t, id, 0)
	s.wants(t, 1, "placed")
	v.kitchen.stop(t)
	s.wantsEnd(t)
	if text := v.kitchen.log.String(); strings.Contains(text, "cutting off") {
		t.Errorf("the stream was not ended but cut off:\n%s", tail(text))
	}
	v.kitchen.restart(t)
	v.robot.report(t, "", id, "accepted").want(t, 200)
	v.alice.follow(t, id, 1).wants(t, 2, "accepted")
}
