package app

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/internal/database"
	"kuhnya/internal/establishment"
	"kuhnya/internal/event"
	"kuhnya/outbox"
)

func quiet(data string) Config {
	return Config{
		Services: Services, Data: data, Addr: "127.0.0.1:0", Topics: event.Topics{Prefix: "kuhnya."}, Demo: true,
		RepublishAfter: establishment.DefaultRepublishAfter,
		Log:            slog.New(slog.DiscardHandler),
	}
}

func started(t *testing.T, data string) *App {
	t.Helper()
	a, err := Start(t.Context(), quiet(data))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func stopped(t *testing.T, a *App) {
	t.Helper()
	if err := a.Stop(); err != nil {
		t.Error(err)
	}
}

func TestFailedStart(t *testing.T) {
	for name, broken := range map[string]string{
		"leaves nothing of the services before":       Establishment,
		"leaves nothing of the service that can't be": Kitchen,
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			repair := breakService(t, data, broken)
			if a, err := Start(t.Context(), quiet(data)); err == nil {
				stopped(t, a)
				t.Fatal("started")
			}
			for _, service := range Services {
				if _, err := os.Stat(DatabasePath(data, service) + "-wal"); err == nil {
					t.Errorf("the database of %s is still open", service)
				}
			}
			repair()
			stopped(t, started(t, data))
		})
	}
}

// breakService makes a service fail in the middle of its start: one when it opens its database, kitchen when it has
// done that and looks for demo data.
func breakService(t *testing.T, data, service string) (repair func()) {
	t.Helper()
	path := DatabasePath(data, service)
	if service != Kitchen {
		if err := os.WriteFile(path, []byte("not a database, though long enough to be one"), 0o600); err != nil {
			t.Fatal(err)
		}
		return func() { _ = os.Remove(path) }
	}
	if err := Migrate(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "ALTER TABLE establishments RENAME TO mislaid")
	return func() { execute(t, path, "ALTER TABLE mislaid RENAME TO establishments") }
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := database.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Write(t.Context(), func(c *database.Conn) error { return c.Exec(statement) })
	if err != nil {
		t.Fatal(err)
	}
}

func TestFailed(t *testing.T) {
	a := started(t, t.TempDir())
	defer stopped(t, a)
	// A consumer runs once, so that of this unit fails at once.
	broken := newUnit(Kitchen, a.config.Log)
	broken.consumer = a.units[0].consumer
	broken.relay = outbox.NewRelay(outbox.RelayOptions{Store: a.units[0].outbox})
	broken.start(a.fail)
	select {
	case err := <-a.Failed():
		if err == nil {
			t.Error("no reason given")
		}
	case <-time.After(10 * time.Second): // bounds a failure only
		t.Error("a consumer ended by itself and nobody was told")
	}
	if err := broken.stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStop has a part of a unit that does not end.
func TestStop(t *testing.T) {
	data := t.TempDir()
	a := started(t, data)
	release, running := make(chan struct{}), a.units[0]
	running.running.Go(func() { <-release })
	if err := a.Stop(); err == nil {
		t.Error("nothing said about what doesn't end")
	}
	if _, err := os.Stat(filepath.Join(data, "broker", "dirty")); err == nil {
		t.Error("the embedded broker was not closed in order")
	}
	if _, err := http.Get(a.URL() + "/healthz"); err == nil {
		t.Error("still answering")
	}
	close(release)
	running.running.Wait()
}

func TestIdle(t *testing.T) {
	a := started(t, t.TempDir())
	defer stopped(t, a)
	if !a.drain(t.Context()) {
		t.Fatal("never idle")
	}
	var unsent int64 = 1
	a.units[1].backlog = func(context.Context) (int64, error) { return unsent, nil }
	if a.idle(t.Context()) {
		t.Error("idle with a step to send")
	}
	unsent = 0
	if !a.drain(t.Context()) {
		t.Error("not idle with nothing to send")
	}
}

func TestDeadLetterLimit(t *testing.T) {
	var m messaging
	if err := m.open(t.Context(), quiet(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	limit := func() int32 {
		topics := event.Topics{Prefix: "kuhnya."}
		return m.deadLetterLimit(t.Context(), Kitchen, topics.ReadBy(Kitchen), slog.New(slog.DiscardHandler))
	}
	if got := limit(); got < 1<<20 {
		t.Errorf("limit %d", got)
	}
	m.embedded.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	if got := limit(); got != 0 {
		t.Errorf("limit %d of a broker that hides it, want 0 for the default", got)
	}
}
