package opsclient

import (
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/consume"
	"kuhnya/internal/auth"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
)

// serve runs a process with some services over one database, and returns its URL and a token for it.
func serve(t *testing.T, store messagesql.DeadLetters, services ...string) (url, token string) {
	t.Helper()
	key := auth.Key{7}
	api := httpapi.New(httpapi.Config{Title: "Test", Version: "1", Verifier: auth.NewVerifier(key), Logger: slog.New(slog.DiscardHandler)})
	for _, name := range services {
		opshttp.Register(api, opshttp.Service{Name: name, Store: store, DeadLetters: ops.NewDeadLetters(store, func() {})})
	}
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	token, err := auth.NewIssuer(key).Issue(auth.Identity{Subject: "root", Role: auth.Operator}, time.Hour)
	must(t, err)
	return server.URL, token
}

func TestService(t *testing.T) {
	store := messagesql.NewDeadLetters(databasetest.SQLite(t, messagesql.Migrations()))
	const many = 203 // more than a page
	for offset := range int64(many) {
		must(t, store.Save(t.Context(), consume.DeadLetter{
			Group: "kitchen", Topic: "t", Offset: offset, Key: []byte{0xff}, Value: []byte("{"), Headers: []consume.Header{{Key: "a"}},
		}))
	}
	url, token := serve(t, store, "kitchen")
	c, err := New([]string{url}, token)
	must(t, err)
	found, absent, err := c.Find(t.Context(), "bonus", "kitchen")
	must(t, err)
	if len(found) != 1 || found[0].Name != "kitchen" || !cmp.Equal(absent, []string{"bonus"}) {
		t.Fatalf("found %v, absent %v", found, absent)
	}
	s := found[0]
	open, err := s.DeadLetters(t.Context(), ops.Open)
	must(t, err)
	for i, letter := range open {
		if letter.Offset != int64(i) || letter.Service != "kitchen" || string(letter.Key) != "\xff" {
			t.Fatalf("%d: %+v", i, letter)
		}
	}
	redriven, err := s.Redrive(t.Context(), open[0].ID)
	must(t, err)
	discarded, err := s.Discard(t.Context(), open[1].ID, "a test")
	must(t, err)
	if len(open) != many || redriven.State != ops.Redriven || discarded.State != ops.Discarded || discarded.Reason != "a test" {
		t.Errorf("%d open, then %+v and %+v", len(open), redriven, discarded)
	}
	all, err := s.DeadLetters(t.Context(), "")
	must(t, err)
	whole, err := s.DeadLetter(t.Context(), open[1].ID)
	must(t, err)
	if len(all) != many || whole.Reason != "a test" || string(whole.Value) != "{" || len(whole.Headers) != 1 || whole.Headers[0].Value != nil {
		t.Errorf("%d in all, %+v", len(all), whole)
	}
	if _, err := s.DeadLetter(t.Context(), httpapi.ID(uuid.New())); CodeOf(err) != fault.NotFound {
		t.Errorf("error %v", err)
	}
}

// TestFind has services in processes of their own, one of them in two.
func TestFind(t *testing.T) {
	store := messagesql.NewDeadLetters(databasetest.SQLite(t, messagesql.Migrations()))
	first, token := serve(t, store, "kitchen")
	second, _ := serve(t, store, "kitchen", "establishment")
	c, err := New([]string{first, second}, token)
	must(t, err)
	found, absent, err := c.Find(t.Context(), "kitchen", "establishment")
	must(t, err)
	if len(found) != 2 || len(absent) != 0 || found[0].url != first+"/v1/kitchen" || found[1].url != second+"/v1/establishment" {
		t.Errorf("found %v, absent %v", found, absent)
	}
	c.token = "forged"
	if _, _, err := c.Find(t.Context(), "kitchen"); CodeOf(err) != fault.Unauthenticated {
		t.Errorf("error %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
