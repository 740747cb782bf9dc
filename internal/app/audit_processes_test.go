package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/internal/audit"
	"kuhnya/internal/auth"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/ops/opshttp"
	"kuhnya/internal/opsclient"
)

func TestAuditor_asks_the_process_that_has_the_broker(t *testing.T) {
	data := stillFolder(t)
	a := started(t, data)
	defer stopped(t, a)
	auditor := openAuditor(t, data, a.URL())
	violations, err := auditor.AtRest(t.Context())
	if err != nil || len(violations) > 0 {
		t.Errorf("%v, error %v", violations, err)
	}
	plant(t, data, Establishment, otherStatus)
	violations, err = auditor.AtRest(t.Context())
	if err != nil || len(violations) != 1 || violations[0].Invariant != audit.Projection {
		t.Errorf("%v, error %v", violations, err)
	}
}

// TestAuditor_asks_the_process_whose_broker_is_elsewhere: no broker has ever written to the folder.
func TestAuditor_asks_the_process_whose_broker_is_elsewhere(t *testing.T) {
	b, err := OpenBroker(t.Context(), t.TempDir(), "127.0.0.1:0", topics, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { must(t, b.Close(context.Background())) })
	data := stillFolder(t)
	must(t, os.RemoveAll(filepath.Join(data, "broker")))
	c := quiet(data)
	c.KafkaBrokers = []string{b.Addr()}
	a, err := Start(t.Context(), c)
	must(t, err)
	defer stopped(t, a)
	if violations, err := openAuditor(t, data, a.URL()).AtRest(t.Context()); err != nil || len(violations) > 0 {
		t.Errorf("%v, error %v", violations, err)
	}
}

// TestAuditor_can_not_ask: with a violation planted that must not be reported.
func TestAuditor_can_not_ask(t *testing.T) {
	for name, c := range map[string]struct {
		disturb func(t *testing.T, a *App, auditor *Auditor)
		says    []string
	}{
		"nobody is there": {func(t *testing.T, a *App, auditor *Auditor) {
			auditor.Client = asking(nobody, tokenOf(t, auditor.Data, auth.Operator))
		}, []string{"no answer from " + nobody, "--url", "--kafka-brokers"}},
		"the process runs on other data": {func(t *testing.T, a *App, auditor *Auditor) {
			auditor.Client = asking(a.URL(), tokenOf(t, t.TempDir(), auth.Operator))
		}, []string{" answers Not authenticated", "other data", "--url"}},
		"the bearer is no operator": {func(t *testing.T, a *App, auditor *Auditor) {
			auditor.Client = asking(a.URL(), tokenOf(t, auditor.Data, auth.Customer))
		}, []string{" answers Not allowed", "--url"}},
		"there is no key": {func(_ *testing.T, _ *App, auditor *Auditor) {
			auditor.Client = func() (*opsclient.Client, error) { return nil, fs.ErrNotExist }
		}, []string{fs.ErrNotExist.Error(), "--url"}},
		"services that read run elsewhere": {func(t *testing.T, _ *App, auditor *Auditor) {
			auditor.Client = asking(kitchenAlone(t, auditor), tokenOf(t, auditor.Data, auth.Operator))
		}, []string{"no process there runs establishment, bonus", "--url"}},
		"the process can't ask its broker": {func(_ *testing.T, a *App, _ *Auditor) {
			a.messaging.embedded.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Err: kerr.GroupAuthorizationFailed, Count: -1})
		}, []string{"does not know how far it has read", "GROUP_AUTHORIZATION_FAILED"}},
		"the process reads other topics": {func(_ *testing.T, _ *App, auditor *Auditor) {
			auditor.Topics.Prefix = "other."
		}, []string{"reads no topic other.orders", "--topic-prefix"}},
		"a record is unread": {func(t *testing.T, a *App, _ *Auditor) {
			produce(t, a.messaging.embedded, topics.Orders())
		}, []string{"2 records unread"}},
		"more was committed than the log holds": {func(t *testing.T, a *App, _ *Auditor) {
			commitOrders(t, a.messaging.embedded, 5, Bonus)
		}, []string{"4 records unread"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := stillFolder(t)
			a := withoutReaders(t, data)
			auditor := openAuditor(t, data, a.URL())
			plant(t, data, Establishment, otherStatus)
			c.disturb(t, a, auditor)
			violations, err := auditor.AtRest(t.Context())
			if !errors.Is(err, ErrNotAtRest) || strings.Count(err.Error(), "not at rest") != 1 {
				t.Fatalf("%v, error %v", violations, err)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in %v", part, err)
				}
			}
		})
	}
}

// withoutReaders is a process whose consumers have ended. So it is ended without waiting for what they leave.
func withoutReaders(t *testing.T, data string) *App {
	t.Helper()
	a := started(t, data)
	t.Cleanup(func() { must(t, errors.Join(a.server.Close(), a.close(context.Background()))) })
	for _, u := range a.units {
		u.halt()
		u.running.Wait()
	}
	return a
}

// kitchenAlone is a process of the same data that runs nothing else.
func kitchenAlone(t *testing.T, auditor *Auditor) (url string) {
	t.Helper()
	key, err := auth.LoadKey(auditor.Data)
	must(t, err)
	api := NewAPI(Config{Version: "v1", Log: slog.New(slog.DiscardHandler)}, auth.NewVerifier(key))
	opshttp.Register(api, opshttp.Service{Name: Kitchen, Store: messagesql.NewDeadLetters(auditor.databases[Kitchen])})
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	return server.URL
}
