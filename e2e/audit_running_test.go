package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestAuditRunning(t *testing.T) {
	keep(t,
		promise{"the services of a running server are compared by asking it", auditRunning},
		promise{"services that run apart are asked where each of them runs", auditApart},
		promise{"a server whose broker is elsewhere is asked, too", auditAskedElsewhere},
		promise{"a server that can't be asked is not at rest, and one line says what to do", auditNotAsked},
	)
}

// wantClean waits until the services rest, and wants nothing to be wrong then.
func wantClean(t *testing.T, args ...string) {
	t.Helper()
	eventually(t, "a clean audit at rest", func() bool {
		r := command(t, append([]string{"audit", "--at-rest"}, args...)...)
		if r.code != 0 && r.code != 3 {
			t.Fatalf("audit %v: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
		return r.code == 0
	})
}

func auditRunning(t *testing.T) {
	s := soloSite(t)
	v := openVenue(t, s, counted("pelmeni", 100))
	id := v.completed(t, v.portions(0, 1))
	v.earned(t, id)
	if r := readReport(t, 0, "--data", s.data); r.AtRest != nil || r.Detail != "" || len(r.Databases) != 3 {
		t.Errorf("live: %+v", r)
	}
	wantClean(t, "--data", s.data, "--url", s.kitchen.url)
	wantClean(t, "--data", s.data, "--url", s.kitchen.url, "--token", v.chief.token)

	execute(t, s, "UPDATE orders SET seq = 9")
	r := readReport(t, 1, "--at-rest", "--data", s.data, "--url", s.kitchen.url)
	if wantViolation(t, r, "order "+id, 3); r.AtRest == nil || !*r.AtRest || r.Detail != "" {
		t.Errorf("%+v", r)
	}
	asked := v.chief.send(t, "GET", "/v1/kitchen/audit", nil).want(t, 200)
	wantViolation(t, into[report](t, asked), "order "+id, 3)
	execute(t, s, "UPDATE orders SET seq = 5")
}

// auditApart has the broker folder locked by a process that has no services.
func auditApart(t *testing.T) {
	s := splitSite(t)
	v := openVenue(t, s, counted("pelmeni", 100))
	v.completed(t, v.portions(0, 1))
	wantNotAtRest(t, "no process there runs establishment, bonus", "--data", s.data, "--url", s.kitchen.url)
	wantClean(t, "--data", s.data, "--url", s.kitchen.url, "--url", s.board.url, "--url", s.bonus.url)
	wantClean(t, "--data", s.data, "--url", strings.Join([]string{s.bonus.url, s.board.url, s.kitchen.url}, ","))
}

func auditAskedElsewhere(t *testing.T) {
	broker := start(t, "broker", "--data", t.TempDir(), "--kafka-addr", fixedAddr(t))
	data := t.TempDir()
	s := newSite(data).inOne(start(t, serving("serve", data, "--kafka-brokers", broker.kafka)...))
	v := openVenue(t, s, counted("pelmeni", 100))
	v.placed(t, v.portions(0, 1))
	wantClean(t, "--data", data, "--url", s.kitchen.url)
}

func auditNotAsked(t *testing.T) {
	s, other := soloSite(t), sharedSite(t)
	for name, c := range map[string]struct {
		says string
		args []string
	}{
		"nobody is there":     {"no answer from http://127.0.0.1:1: ", []string{"--url", "http://127.0.0.1:1"}},
		"another server":      {"It runs on other data", []string{"--url", other.kitchen.url}},
		"not an operator":     {"Not allowed", []string{"--url", s.kitchen.url, "--token", s.customer(t, "alice").token}},
		"another prefix":      {"--topic-prefix", []string{"--url", s.kitchen.url, "--topic-prefix", "other."}},
		"not kuhnya at all":   {"is the URL right?", []string{"--url", plainServer(t)}},
		"what to do is named": {"with --url, or their brokers with --kafka-brokers", []string{"--url", other.kitchen.url}},
	} {
		t.Run(name, func(t *testing.T) { wantNotAtRest(t, c.says, append(c.args, "--data", s.data)...) })
	}
	t.Run("a URL that is none", func(t *testing.T) {
		wantRefused(t, command(t, "audit", "--at-rest", "--data", s.data, "--url", "127.0.0.1:8080"))
	})
	t.Run("the report says the same", func(t *testing.T) {
		r := readReport(t, 3, "--at-rest", "--data", s.data, "--url", other.kitchen.url)
		if r.AtRest == nil || *r.AtRest || strings.Count(r.Detail, "not at rest") != 1 || !strings.Contains(r.Detail, "--url") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("no key is made", func(t *testing.T) {
		data := t.TempDir()
		start(t, "broker", "--data", data, "--kafka-addr", "127.0.0.1:0")
		if r := command(t, "migrate", "--data", data); r.code != 0 {
			t.Fatal(r.stderr)
		}
		wantNotAtRest(t, "no signing key in "+data, "--data", data, "--url", s.kitchen.url)
		if _, err := os.Stat(data + "/auth.key"); !os.IsNotExist(err) {
			t.Errorf("auth.key: %v", err)
		}
	})
}

// plainServer is a web server of another kind.
func plainServer(t *testing.T) (url string) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return server.URL
}
