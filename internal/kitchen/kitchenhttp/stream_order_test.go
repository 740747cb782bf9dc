package kitchenhttp_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/auth"
	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/event"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/kitchen/kitchenbus"
	"kuhnya/internal/kitchen/kitchenhttp"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
)

var signing = auth.Key{7}

// world is kitchen over HTTP in a bubble, with one order of alice's.
type world struct {
	t       *testing.T
	api     *httpapi.API
	service *kitchen.Service
	hub     *kitchenbus.Hub
	place   kitchen.Establishment
	order   kitchen.Order
	looks   atomic.Int64 // reads of a history
}

// countingReader counts what streams read.
type countingReader struct {
	kitchen.Reader
	looks *atomic.Int64
}

func (r countingReader) Events(ctx context.Context, id uuid.UUID) ([]kitchen.Event, error) {
	r.looks.Add(1)
	return r.Reader.Events(ctx, id)
}

func inBubble(t *testing.T, test func(*testing.T, *world)) {
	synctest.Test(t, func(t *testing.T) {
		store := kitchensql.NewSQLite(databasetest.SQLite(t, kitchensql.Migrations(), messagesql.Migrations()))
		w := &world{t: t, hub: &kitchenbus.Hub{}}
		w.service = kitchen.New(store, kitchen.Options{Topics: event.Topics{}, Classify: database.BatchClass, Wake: func() {}})
		w.api = httpapi.New(httpapi.Config{Verifier: auth.NewVerifier(signing), ParseKey: noKeys, Logger: slog.New(slog.DiscardHandler)})
		kitchenhttp.Register(w.api, w.service, countingReader{store, &w.looks}, w.hub)
		w.place = kitchen.Establishment{
			ID: uuid.New(), Name: "Canteen", State: kitchen.Open, AcceptTimeout: time.Minute, Timezone: "UTC", Currency: money.RUB,
		}
		t.Cleanup(func() {
			w.api.CloseStreams()
			synctest.Wait()
			w.must(w.service.Close(context.Background()))
		})
		w.order = w.orderSoup()
		test(t, w)
	})
}

func noKeys([]string) (string, bool, error) { return "", false, nil }

// orderSoup opens the place and orders there.
func (w *world) orderSoup() kitchen.Order {
	soup := uuid.New()
	_, _, err := w.service.PutEstablishment(w.t.Context(), w.place)
	w.must(err)
	w.must(w.service.PutMenu(w.t.Context(), w.place.ID, []kitchen.MenuDish{{ID: soup, ExternalID: "soup", Name: "Soup", Price: 100}}, "staff:marta"))
	placed, err := w.service.Place(w.t.Context(), kitchen.PlaceOrder{
		UserID: "alice", EstablishmentID: w.place.ID, Lines: []kitchen.PlaceLine{{DishID: soup, Quantity: 2}},
	})
	w.must(err)
	return placed.Order
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// change moves the order on without telling anybody; tell does that.
func (w *world) change(to lifecycle.Status) {
	w.t.Helper()
	_, err := w.service.Change(w.t.Context(), kitchen.Change{
		OrderID: w.order.ID, EstablishmentID: w.place.ID, To: to, Reason: "as " + string(to), Party: lifecycle.Staff, Actor: "staff:marta",
	})
	w.must(err)
}

func (w *world) tell() { w.hub.Wake(w.order.ID) }

func (w *world) request(identity auth.Identity, path string) *http.Request {
	w.t.Helper()
	token, err := auth.NewIssuer(signing).Issue(identity, 24*time.Hour)
	w.must(err)
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "/v1/orders/"+w.order.ID.String()+path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

var alice = auth.Identity{Subject: "alice", Role: auth.Customer}

// shown is the order as GET answers it now.
func (w *world) shown() string {
	w.t.Helper()
	answer := httptest.NewRecorder()
	w.api.Handler().ServeHTTP(answer, w.request(alice, ""))
	if answer.Code != http.StatusOK {
		w.t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// frame is the order as an event of the stream shows it now.
func (w *world) frame(seq int) string {
	w.t.Helper()
	return fmt.Sprintf("id: %d\nevent: status\ndata: %s\n\n", seq, w.shown())
}

const beat = ":\n\n"

// stream is an answer on its way.
type stream struct {
	mu     sync.Mutex
	header http.Header
	status int
	text   bytes.Buffer
	ended  bool
}

func (s *stream) Header() http.Header { return s.header }
func (s *stream) Flush()              {}

func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// follow opens alice's stream; an id of "" is sent as no Last-Event-ID.
func (w *world) follow(lastEventID string) *stream {
	w.t.Helper()
	r := w.request(alice, "/stream")
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	return w.open(r)
}

func (w *world) open(r *http.Request) *stream {
	s := &stream{header: http.Header{}}
	go func() {
		w.api.Handler().ServeHTTP(s, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
	}()
	return s
}

// wants fails unless exactly these frames came since the last time, once all is quiet.
func (s *stream) wants(t *testing.T, frames ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got, want := s.text.String(), strings.Join(frames, ""); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	s.text.Reset()
}

// wantsEnd fails unless the answer has ended with the status.
func (s *stream) wantsEnd(t *testing.T, status int) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended || s.status != status {
		t.Errorf("status %d, ended %v, want %d", s.status, s.ended, status)
	}
}

func TestStream_shows_the_order_now_and_each_change_once_until_the_last(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.follow("")
		s.wants(t, w.frame(1))
		for i, to := range []lifecycle.Status{lifecycle.Accepted, lifecycle.Cooking, lifecycle.Ready, lifecycle.Completed} {
			w.change(to)
			w.tell()
			w.tell() // as a record that comes twice does
			s.wants(t, w.frame(i+2))
		}
		s.wantsEnd(t, 200)
	})
}

// A reader that is slow, or is told of two changes at once, misses none.
func TestStream_sends_changes_that_came_together_in_their_order(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.follow("")
		s.wants(t, w.frame(1))
		w.change(lifecycle.Accepted)
		second := w.frame(2)
		w.change(lifecycle.Cooking)
		w.tell()
		s.wants(t, second, w.frame(3))
	})
}

func TestStream_goes_on_after_the_last_event_that_was_seen(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.change(lifecycle.Accepted)
		second := w.frame(2)
		w.change(lifecycle.Cooking)
		third := w.frame(3)
		w.follow("1").wants(t, second, third)
		w.follow("2").wants(t, third)
		w.follow("3").wants(t)
		for _, none := range []string{"", "0", "4", "-1", "abc", "2.0", "99999999999999999999"} {
			w.follow(none).wants(t, third)
		}
	})
}

func TestStream_of_an_order_that_is_over(t *testing.T) {
	for last, path := range map[lifecycle.Status][]lifecycle.Status{
		lifecycle.Rejected:  {lifecycle.Rejected},
		lifecycle.Cancelled: {lifecycle.Accepted, lifecycle.Cancelled},
		lifecycle.Completed: {lifecycle.Accepted, lifecycle.Cooking, lifecycle.Ready, lifecycle.Completed},
	} {
		t.Run(string(last), func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				for _, to := range path {
					w.change(to)
				}
				seq := len(path) + 1
				s := w.follow("")
				s.wants(t, w.frame(seq))
				s.wantsEnd(t, 200)
				again := w.follow(strconv.Itoa(seq))
				again.wants(t)
				again.wantsEnd(t, 204)
				behind := w.follow(strconv.Itoa(seq - 1))
				behind.wants(t, w.frame(seq))
				behind.wantsEnd(t, 200)
			})
		})
	}
}

func TestStream_beats_each_15_seconds_and_finds_what_nobody_told_of(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.follow("")
		s.wants(t, w.frame(1))
		for range 3 {
			time.Sleep(15 * time.Second) // of the bubble's clock
			s.wants(t, beat)
		}
		w.change(lifecycle.Accepted)
		s.wants(t)
		time.Sleep(15 * time.Second)
		s.wants(t, beat, w.frame(2))
	})
}

func TestStream_that_waits_reads_nothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		for range 10 {
			w.follow("").wants(t, w.frame(1))
		}
		before := w.looks.Load()
		w.hub.Wake(uuid.New())
		time.Sleep(14 * time.Second) // of the bubble's clock
		synctest.Wait()
		if looks := w.looks.Load() - before; looks != 0 {
			t.Errorf("%d looks at an order that nobody said anything about", looks)
		}
	})
}

func TestStream_is_for_those_who_may_read_the_order(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		for name, c := range map[string]struct {
			who  auth.Identity
			want int
		}{
			"its staff":        {auth.Identity{Subject: "marta", Role: auth.Staff, EstablishmentID: w.place.ID}, 200},
			"the operator":     {auth.Identity{Subject: "root", Role: auth.Operator}, 200},
			"another customer": {auth.Identity{Subject: "bob", Role: auth.Customer}, 404},
			"other staff":      {auth.Identity{Subject: "anna", Role: auth.Staff, EstablishmentID: uuid.New()}, 404},
			"a service":        {auth.Identity{Subject: "robot", Role: auth.Service}, 403},
		} {
			s := w.open(w.request(c.who, "/stream"))
			synctest.Wait()
			if s.status != c.want || s.ended != (c.want != 200) {
				t.Errorf("%s: %d, ended %v", name, s.status, s.ended)
			}
		}
		nobody := w.request(alice, "/stream")
		nobody.Header.Del("Authorization")
		w.open(nobody).wantsEnd(t, 401)
	})
}

func TestStream_ends_with_the_process(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.follow("")
		s.wants(t, w.frame(1))
		w.api.CloseStreams()
		s.wantsEnd(t, 200)
		s.wants(t)
	})
}
