package opsclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
)

const (
	unavailable = `{"type":"/problems/unavailable","title":"Temporarily unavailable","status":503,"detail":"Later.","code":"unavailable","retryable":true}`
	reached     = `{"type":"/problems/redrive-limit","title":"Redrive limit reached","status":409,"detail":"Sent 5 times.","code":"redrive_limit",
		"retryable":false,"left":0,"errors":[{"pointer":"/a","detail":"is wrong"}]}`
)

// process answers each request with the next of its answers, and with the last one from then on.
type process struct {
	*httptest.Server
	asked atomic.Int64
}

func newProcess(t *testing.T, answers ...http.HandlerFunc) (*process, Service) {
	p := &process{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(p.asked.Add(1))
		answers[min(n, len(answers))-1](w, r)
	}))
	t.Cleanup(p.Close)
	return p, serviceAt(t, p.URL)
}

func serviceAt(t *testing.T, urls ...string) Service {
	t.Helper()
	c, err := New(urls, "secret-token")
	if err != nil {
		t.Fatal(err)
	}
	c.pause = 0
	return Service{"kitchen", c, urls[0] + "/v1/kitchen"}
}

func problem(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func ok(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer secret-token" {
		w.WriteHeader(http.StatusUnauthorized)
	}
	_, _ = io.WriteString(w, `{"state":"redriven"}`)
}

func breakOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestCall_tries_again_what_fails_in_passing(t *testing.T) {
	for name, failing := range map[string]http.HandlerFunc{"503": problem(503, unavailable), "a broken connection": breakOff} {
		t.Run(name, func(t *testing.T) {
			p, s := newProcess(t, failing, failing, ok)
			letter, err := s.Redrive(t.Context(), httpapi.ID(uuid.New()))
			if err != nil || letter.State != ops.Redriven || p.asked.Load() != 3 {
				t.Errorf("%s after %d tries, error %v", letter.State, p.asked.Load(), err)
			}
			p, s = newProcess(t, failing)
			if _, err = s.Overview(t.Context()); err == nil || p.asked.Load() != maxTries {
				t.Errorf("error %v after %d tries", err, p.asked.Load())
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
		})
	}
}

func TestCall_takes_a_refusal_for_an_answer(t *testing.T) {
	p, s := newProcess(t, problem(409, reached))
	_, err := s.Redrive(t.Context(), httpapi.ID(uuid.New()))
	if CodeOf(err) != fault.RedriveLimit || p.asked.Load() != 1 {
		t.Fatalf("error %v after %d tries", err, p.asked.Load())
	}
	if want := "Redrive limit reached: Sent 5 times. /a is wrong."; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestCall_where_nobody_listens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	listener.Close()
	s := serviceAt(t, url)
	dialled := 0
	s.client.http.Transport = &http.Transport{DialContext: func(_ context.Context, network, addr string) (net.Conn, error) {
		dialled++
		return net.Dial(network, addr)
	}}
	_, err = s.Overview(t.Context())
	if !errors.Is(err, ErrNoAnswer) || !strings.Contains(err.Error(), url) || strings.Contains(err.Error(), "overview") || dialled != 1 {
		t.Errorf("error %v after %d tries", err, dialled)
	}
}

func TestCall_of_something_else_than_kuhnya(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a page":          func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"another place":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"a page and 200":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"a broken answer": problem(500, "{"),
	} {
		t.Run(name, func(t *testing.T) {
			p, s := newProcess(t, answer)
			found, absent, err := s.client.Find(t.Context(), "kitchen")
			if err == nil || CodeOf(err) != "" || !strings.Contains(err.Error(), p.URL) || p.asked.Load() != 1 {
				t.Errorf("found %v, absent %v, error %v after %d tries", found, absent, err, p.asked.Load())
			}
		})
	}
}

// TestCall_sees_a_change_through: whoever gives up still learns what became of what was asked.
func TestCall_sees_a_change_through(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, s := newProcess(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		ok(w, r)
	})
	if letter, err := s.Discard(ctx, httpapi.ID(uuid.New()), "x"); err != nil || letter.State == "" {
		t.Errorf("error %v", err)
	}
	if _, err := s.Overview(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a question goes on: %v", err)
	}
}

func TestNew(t *testing.T) {
	for _, bad := range []string{"", "127.0.0.1:8080", "ftp://host", "http://", "http://host/v1", "http://host?a=b", "http://root:secret@host", "http://a b"} {
		if _, err := New([]string{bad}, ""); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if c, err := New([]string{"http://[::1]:8080/", "https://kuhnya.example"}, ""); err != nil || c.urls[0] != "http://[::1]:8080" {
		t.Errorf("%v, error %v", c, err)
	}
}
