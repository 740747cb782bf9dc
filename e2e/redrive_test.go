package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestRedrive(t *testing.T) {
	keep(t,
		promise{"a record that stays poison is sent again five times, its headers don't grow and no other group sees it", redrivePoison},
		promise{"a record is sent again once, however often that is asked for", redriveOnce},
		promise{"what was discarded is not sent again, and keeps its first reason", redriveDiscarded},
		promise{"a record without key, value or text is shown and sent again as it was", redriveStrange},
		promise{"only operators get to dead letters", redriveOperators},
		promise{"each service has its own dead letters", redriveOwn},
		promise{"an overview tells what waits, also while the broker is away", overviewWithoutBroker},
	)
}

// deadLetter is one as the API shows it, as far as the tests look at it.
type deadLetter struct {
	ID           string  `json:"id"`
	Service      string  `json:"service"`
	Topic        string  `json:"topic"`
	Partition    int32   `json:"partition"`
	Offset       int64   `json:"offset"`
	State        string  `json:"state"`
	Reason       string  `json:"reason"`
	ErrorCode    string  `json:"error_code"`
	RedriveCount int     `json:"redrive_count"`
	OrderID      string  `json:"order_id"`
	ValueBytes   int     `json:"value_bytes"`
	Key          *octets `json:"key"`
	Value        *octets `json:"value"`
	Headers      []struct {
		Name  *octets `json:"name"`
		Value *octets `json:"value"`
	} `json:"headers"`
}

// octets are bytes as the API shows them: one of the two.
type octets struct {
	Text   *string `json:"text"`
	Base64 []byte  `json:"base64"`
}

func (o *octets) bytes() []byte {
	switch {
	case o == nil:
		return nil
	case o.Text != nil:
		return []byte(*o.Text)
	}
	return o.Base64
}

func lettersOf(service string) string { return "/v1/" + service + "/dead-letters" }

// letters lists a service's dead letters of an order, page by page, by their ids.
func (s *site) letters(t testing.TB, service, order string) (found []deadLetter) {
	t.Helper()
	for _, letter := range pages[deadLetter](t, s.operator(t), lettersOf(service), 50) {
		if letter.OrderID == order {
			found = append(found, letter)
		}
	}
	return found
}

// awaitLetters waits until a service has so many dead letters of an order.
func (s *site) awaitLetters(t testing.TB, service, order string, n int) (letters []deadLetter) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d dead letters", n), func() bool {
		letters = s.letters(t, service, order)
		return len(letters) >= n
	})
	if len(letters) != n {
		t.Fatalf("%d dead letters, want %d", len(letters), n)
	}
	return letters
}

func (c client) redrive(t testing.TB, l deadLetter) response {
	t.Helper()
	return c.send(t, "POST", lettersOf(l.Service)+"/"+l.ID+"/redrive", nil)
}

func (c client) discard(t testing.TB, l deadLetter, reason string) response {
	t.Helper()
	return c.send(t, "POST", lettersOf(l.Service)+"/"+l.ID+"/discard", map[string]string{"reason": reason})
}

// of are the records of a topic with a key, in their order.
func (b bus) of(t testing.TB, topic, key string) (records []*kgo.Record) {
	t.Helper()
	for _, r := range b.all(t, topic) {
		if string(r.Key) == key {
			records = append(records, r)
		}
	}
	return records
}

func redrivePoison(t *testing.T) {
	s := newStage(t)
	s.awaitTicket(t, s.id)
	sent := s.bus.send(t, poison(ordersTopic, s.id,
		withHeader("ce_type", "order.status_changed.v1"), withHeader("ce_id", newKey()), kgo.RecordHeader{Key: "empty"}))
	for n := range 6 {
		letters := s.awaitLetters(t, "establishment", s.id, n+1)
		last := letters[n]
		if last.RedriveCount != n || last.State != "open" || last.ErrorCode != "invalid_request" || last.Partition != sent.Partition || last.ValueBytes != 1 {
			t.Fatalf("dead letter %d: %+v", n, last)
		}
		if n < 5 {
			s.chief.redrive(t, last).want(t, 200)
		}
	}
	letters := s.letters(t, "establishment", s.id)
	for range 5 {
		s.chief.redrive(t, letters[5]).wantProblem(t, 409, "redrive_limit")
	}
	s.bus.settle(t, "establishment", ordersTopic)
	if again := s.letters(t, "establishment", s.id); len(again) != 6 || again[5].State != "open" || again[4].State != "redriven" {
		t.Errorf("dead letters %+v", again)
	}
	s.wantHeadersKept(t, sent)
	s.wantForOneGroup(t, sent)
	s.chief.discard(t, letters[5], "hopeless").want(t, 200)
}

// wantHeadersKept wants all dead letters of a record to carry its own headers, and as many of ours as the first one.
func (s *stage) wantHeadersKept(t *testing.T, sent *kgo.Record) {
	t.Helper()
	letters := s.bus.buried(t, boardReader, s.id)
	for n, letter := range letters {
		if diff := cmp.Diff(sent.Headers, letter.Headers[:len(sent.Headers)]); diff != "" || len(letter.Headers) != len(letters[0].Headers) {
			t.Errorf("dead letter %d has %d headers, the first one %d (-sent +dead letter):\n%s", n, len(letter.Headers), len(letters[0].Headers), diff)
		}
		if count := header(letter, "x-dlq-redrive-count"); count != fmt.Sprint(n) {
			t.Errorf("dead letter %d says that it was sent again %s times", n, count)
		}
	}
}

// wantForOneGroup wants the records that were sent again to be for the board only, and every other reader of the topic to
// have given up what it read at first and nothing else.
func (s *stage) wantForOneGroup(t *testing.T, sent *kgo.Record) {
	t.Helper()
	for _, r := range s.bus.of(t, ordersTopic, s.id) {
		if r.Offset > sent.Offset && (header(r, "x-dlq-redrive-group") != "establishment" || len(r.Headers) != len(sent.Headers)+2 || string(r.Value) != "{") {
			t.Errorf("sent again with %v, %q", r.Headers, r.Value)
		}
	}
	for _, service := range s.services(t) {
		if letters := s.letters(t, service, s.id); service != "establishment" && len(letters) > 1 {
			t.Errorf("%s has %d dead letters of it", service, len(letters))
		}
	}
}

// services are those that the site runs, out of all that there may be.
func (s *site) services(t testing.TB) (names []string) {
	t.Helper()
	for _, name := range []string{"kitchen", "establishment", "bonus"} {
		if s.operator(t).send(t, "GET", lettersOf(name)+"?limit=1", nil).status == 200 {
			names = append(names, name)
		}
	}
	return names
}

func redriveOnce(t *testing.T) {
	s := newStage(t)
	s.bus.send(t, poison(statusesTopic, s.id))
	letter := s.awaitLetters(t, "kitchen", s.id, 1)[0]
	together(10, func(int) {
		if again := into[deadLetter](t, s.chief.redrive(t, letter)); again.State != "redriven" || again.ID != letter.ID {
			t.Errorf("%+v", again)
		}
	})
	s.awaitLetters(t, "kitchen", s.id, 2)
	s.chief.redrive(t, letter).want(t, 200)
	s.chief.discard(t, letter, "too late").wantProblem(t, 409, "invalid_transition")
	// The next record of the key comes after whatever was sent before.
	s.say(t, "accepted")
	s.awaitOrder(t, s.id, "accepted")
	if records := s.bus.of(t, statusesTopic, s.id); len(records) != 3 {
		t.Errorf("%d records, want the poison, once more the poison, and the callback", len(records))
	}
	s.awaitLetters(t, "kitchen", s.id, 2)
}

func redriveDiscarded(t *testing.T) {
	s := newStage(t)
	s.bus.send(t, poison(statusesTopic, s.id))
	letter := s.awaitLetters(t, "kitchen", s.id, 1)[0]
	s.chief.discard(t, letter, "").wantProblem(t, 400, "invalid_request")
	for _, reason := range []string{"a test", "another"} {
		if now := into[deadLetter](t, s.chief.discard(t, letter, reason).want(t, 200)); now.State != "discarded" || now.Reason != "a test" {
			t.Errorf("%s because of %q", now.State, now.Reason)
		}
	}
	s.chief.redrive(t, letter).wantProblem(t, 409, "dead_letter_discarded")
	s.awaitLetters(t, "kitchen", s.id, 1)
}

func redriveStrange(t *testing.T) {
	s := newStage(t)
	for _, sent := range []*kgo.Record{
		{Value: []byte("\x00\xff"), Headers: []kgo.RecordHeader{{Key: "\xfe"}, {Key: "", Value: []byte{}}, {Key: "", Value: []byte("\xfd")}}},
		{Key: []byte("\xff" + s.id)},
		{Key: []byte{}, Value: []byte{}},
	} {
		sent.Topic = statusesTopic
		s.bus.send(t, sent)
		s.bus.settleStatuses(t)
		letter := s.letterAt(t, sent)
		if !same(letter.Key.bytes(), sent.Key) || !same(letter.Value.bytes(), sent.Value) {
			t.Errorf("key %q, value %q, want %q, %q", letter.Key.bytes(), letter.Value.bytes(), sent.Key, sent.Value)
		}
		for i, h := range letter.Headers {
			if want := sent.Headers[i]; string(h.Name.bytes()) != want.Key || !same(h.Value.bytes(), want.Value) {
				t.Errorf("header %q: %q, want %q: %q", h.Name.bytes(), h.Value.bytes(), want.Key, want.Value)
			}
		}
		s.chief.redrive(t, letter).want(t, 200)
		s.awaitAgain(t, sent)
	}
}

// letterAt is kitchen's dead letter of a record, whole.
func (s *stage) letterAt(t *testing.T, sent *kgo.Record) deadLetter {
	t.Helper()
	for _, letter := range s.letters(t, "kitchen", "") {
		if letter.Topic == sent.Topic && letter.Partition == sent.Partition && letter.Offset == sent.Offset {
			return into[deadLetter](t, s.chief.send(t, "GET", lettersOf("kitchen")+"/"+letter.ID, nil).want(t, 200))
		}
	}
	t.Fatal("no dead letter of the record")
	return deadLetter{}
}

// awaitAgain waits until a record is on its topic once more, as it was.
func (s *stage) awaitAgain(t *testing.T, sent *kgo.Record) {
	t.Helper()
	eventually(t, "the record once more", func() bool {
		return slices.ContainsFunc(s.bus.all(t, sent.Topic), func(r *kgo.Record) bool {
			return header(r, "x-dlq-redrive-group") == "kitchen" && slices.Equal(r.Key, sent.Key) && same(r.Value, sent.Value) &&
				slices.EqualFunc(r.Headers[:len(r.Headers)-2], sent.Headers, sameHeader)
		})
	})
}

// same tells nothing from nothing in it.
func same(a, b []byte) bool { return slices.Equal(a, b) && (a == nil) == (b == nil) }

func sameHeader(a, b kgo.RecordHeader) bool { return a.Key == b.Key && same(a.Value, b.Value) }

func redriveOperators(t *testing.T) {
	s := newStage(t)
	s.bus.send(t, poison(statusesTopic, s.id))
	letter := s.awaitLetters(t, "kitchen", s.id, 1)[0]
	for _, who := range []client{s.alice, s.cook, s.robot} {
		who.redrive(t, letter).wantProblem(t, 403, "forbidden")
		who.discard(t, letter, "x").wantProblem(t, 403, "forbidden")
		for _, path := range []string{lettersOf("kitchen"), lettersOf("kitchen") + "/" + letter.ID, "/v1/kitchen/overview", "/v1/kitchen/audit"} {
			who.send(t, "GET", path, nil).wantProblem(t, 403, "forbidden")
		}
	}
	client{site: s.site}.redrive(t, letter).wantProblem(t, 401, "unauthenticated")
	if now := s.letters(t, "kitchen", s.id); len(now) != 1 || now[0].State != "open" {
		t.Errorf("dead letters %+v", now)
	}
}

func redriveOwn(t *testing.T) {
	s := splitSite(t)
	v := openVenue(t, s, counted("pelmeni", 10))
	id := v.placed(t, v.portions(0, 1)).ID
	s.bus(t).send(t, poison(statusesTopic, id))
	s.bus(t).send(t, poison(ordersTopic, id, withHeader("ce_type", "order.placed.v1")))
	kitchens := s.awaitLetters(t, "kitchen", id, 1)
	boards := s.awaitLetters(t, "establishment", id, 1)
	if kitchens[0].Topic != statusesTopic || boards[0].Topic != ordersTopic {
		t.Errorf("kitchen has %+v, establishment %+v", kitchens, boards)
	}
	v.chief.redrive(t, deadLetter{Service: "kitchen", ID: boards[0].ID}).wantProblem(t, 404, "not_found")
	elsewhere, err := v.chief.request("GET", "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.URL.Path = lettersOf("establishment")
	fetch(elsewhere).wantProblem(t, http.StatusNotFound, "not_found") // kitchen's process

	for service, url := range map[string]string{"kitchen": s.kitchen.url, "establishment": s.board.url} {
		r := s.dlq(t, url, "list")
		if !strings.Contains(r.stdout, id) || !strings.Contains(r.stdout, "1 open; asked "+service+"; not running here: ") {
			t.Errorf("%s", r.stdout)
		}
	}
	if r := s.dlq(t, s.kitchen.url, "list", "--service", "establishment"); r.code != 2 || !strings.Contains(r.stderr, "no process at "+s.kitchen.url) {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	both := s.kitchen.url + "," + s.board.url
	if r := s.dlq(t, both, "redrive", kitchens[0].ID, boards[0].ID); r.code != 0 || strings.Count(r.stdout, ": sent\n") != 2 {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	s.awaitLetters(t, "kitchen", id, 2)
	s.awaitLetters(t, "establishment", id, 2)
}

// overview is how a service is doing, as far as the tests look at it.
type overview struct {
	Service string `json:"service"`
	Outbox  struct {
		Waiting int64   `json:"waiting"`
		Oldest  float64 `json:"oldest_age_seconds"`
	} `json:"outbox"`
	UnsentSteps  int64  `json:"unsent_steps"`
	Reading      []any  `json:"reading"`
	ReadingError string `json:"reading_error"`
	Lag          *int64 `json:"lag"`
	StuckOrders  int64  `json:"stuck_orders"`
}

func (c client) overview(t testing.TB, service string) overview {
	t.Helper()
	return into[overview](t, c.send(t, "GET", "/v1/"+service+"/overview", nil).want(t, 200))
}

func overviewWithoutBroker(t *testing.T) {
	v, id := newOutage(t)
	v.wantUnpublished(t, id, "accept", "accepted")
	v.placed(t, v.portions(0, 1))
	eventually(t, "an overview that knows that the broker is away", func() bool { return v.chief.overview(t, "kitchen").Lag == nil })
	kitchen, board := v.chief.overview(t, "kitchen"), v.chief.overview(t, "establishment")
	if kitchen.ReadingError == "" || kitchen.Outbox.Waiting != 1 || kitchen.Outbox.Oldest <= 0 || kitchen.UnsentSteps != 0 || len(kitchen.Reading) != 0 {
		t.Errorf("kitchen: %+v", kitchen)
	}
	if board.ReadingError == "" || board.Outbox.Waiting != 0 || board.UnsentSteps != 1 {
		t.Errorf("establishment: %+v", board)
	}
	v.acceptWithin(t, 1)
	v.placed(t, v.portions(0, 1))
	eventually(t, "a stuck order", func() bool { return v.chief.overview(t, "kitchen").StuckOrders == 1 })
	v.broker.restart(t)
	eventually(t, "nothing left to do", func() bool {
		k, b := v.chief.overview(t, "kitchen"), v.chief.overview(t, "establishment")
		return k.Lag != nil && *k.Lag == 0 && b.Lag != nil && *b.Lag == 0 && k.Outbox.Waiting+b.UnsentSteps+k.StuckOrders == 0
	})
	audit := v.chief.send(t, "GET", "/v1/kitchen/audit", nil).want(t, 200)
	if found := into[struct{ Violations, Parked []any }](t, audit); found.Violations == nil || len(found.Violations)+len(found.Parked) > 0 {
		t.Errorf("audit: %s", audit.body)
	}
}
