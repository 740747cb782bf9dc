package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/consume"
	"kuhnya/internal/broker"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/outbox"
)

// running is a process that has no patience with what stands still, and that ends however it is.
func running(t *testing.T, data string, change ...func(*Config)) *App {
	t.Helper()
	c := quiet(data)
	for _, f := range change {
		f(&c)
	}
	a, err := Start(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(a.server.Close(), a.close(context.Background()))) })
	a.vitals.patience = 0
	return a
}

// eventually waits until a process is ready, or not, because of one part whose reason begins so.
func (a *App) eventually(t *testing.T, ready bool, part, reason string) {
	t.Helper()
	var h health
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if h = a.probe(t.Context()); h.Ready == ready && strings.HasPrefix(h.Checks[part], reason) {
			return
		}
	}
	t.Fatalf("never ready %v because of %s: %s…; but %v", ready, part, reason, h)
}

// wantRedOnly fails unless everything but these parts is well.
func wantRedOnly(t *testing.T, h health, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if h.Checks[part] == well || h.Checks[part] == "" {
			t.Errorf("%s is %q", part, h.Checks[part])
		}
		delete(h.Checks, part)
	}
	for part, is := range h.Checks {
		if is != well {
			t.Errorf("%s is %q", part, is)
		}
	}
	if h.Ready != (len(parts) == 0) {
		t.Errorf("ready: %v", h.Ready)
	}
}

func TestReady_tells_every_part(t *testing.T) {
	a := running(t, t.TempDir())
	a.eventually(t, true, "process", well)
	answer, err := http.Get(a.URL() + "/readyz")
	must(t, err)
	defer answer.Body.Close()
	var h health
	must(t, json.NewDecoder(answer.Body).Decode(&h))
	want := health{Ready: true, Checks: map[string]string{}}
	for _, part := range []string{
		"process", "file descriptors", "data folder", "disk", "broker",
		"kitchen database", "kitchen consumer", "kitchen outbox", "establishment database", "establishment consumer", "establishment outbox",
		"bonus database", "bonus consumer", "bonus outbox",
	} {
		want.Checks[part] = well
	}
	if diff := cmp.Diff(want, h); diff != "" || answer.StatusCode != 200 {
		t.Errorf("%d (-want +got):\n%s", answer.StatusCode, diff)
	}
}

func TestReady_ends_with_stopping(t *testing.T) {
	a := running(t, t.TempDir())
	a.eventually(t, true, "process", well)
	a.ready.Store(false)
	wantRedOnly(t, a.probe(t.Context()), "process")
	answer, err := http.Get(a.URL() + "/readyz")
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("answer %d", answer.StatusCode)
	}
}

func TestReady_ends_with_files_that_others_took_away(t *testing.T) {
	for name, c := range map[string]struct {
		take func(data, aside string) error
		red  []string
	}{
		"the folder is gone": {os.Rename, []string{"data folder", "kitchen database", "establishment database", "bonus database"}},
		"the folder is another": {func(data, aside string) error {
			err := errors.Join(os.Rename(data, aside), os.Mkdir(data, 0o700))
			for _, service := range Services {
				err = errors.Join(err, os.WriteFile(DatabasePath(data, service), nil, 0o600))
			}
			return err
		}, []string{"data folder", "kitchen database", "establishment database", "bonus database"}},
		"a database is gone":    {func(data, _ string) error { return os.Remove(DatabasePath(data, Kitchen)) }, []string{"kitchen database"}},
		"a database is another": {func(data, _ string) error { return swap(DatabasePath(data, Bonus)) }, []string{"bonus database"}},
	} {
		t.Run(name, func(t *testing.T) {
			data, aside := t.TempDir(), t.TempDir()
			must(t, os.Remove(aside))
			a := running(t, data)
			a.eventually(t, true, "kitchen consumer", well)
			a.eventually(t, true, "bonus consumer", well)
			a.eventually(t, true, "establishment consumer", well)
			must(t, c.take(data, aside))
			h := a.probe(t.Context())
			for part, is := range h.Checks {
				if strings.HasSuffix(part, "consumer") || strings.HasSuffix(part, "outbox") {
					continue // they may notice as well
				}
				if is != well && is != replaced {
					t.Errorf("%s %s", part, is)
				}
			}
			maps.DeleteFunc(h.Checks, func(part, _ string) bool {
				return strings.HasSuffix(part, "consumer") || strings.HasSuffix(part, "outbox")
			})
			wantRedOnly(t, h, c.red...)
		})
	}
}

// swap puts a copy in a file's place.
func swap(path string) error {
	content, err := os.ReadFile(path)
	return errors.Join(err, os.WriteFile(path+".copy", content, 0o600), os.Rename(path+".copy", path))
}

func TestReady_does_not_end_with_the_broker(t *testing.T) {
	a := running(t, t.TempDir())
	a.eventually(t, true, "kitchen consumer", well)
	must(t, a.messaging.embedded.Pause())
	a.eventually(t, true, "broker", "unreachable")
	a.eventually(t, true, "kitchen consumer", "waits for the broker")
	must(t, a.messaging.embedded.Resume())
	a.eventually(t, true, "broker", well)
	a.eventually(t, true, "kitchen consumer", well)
}

func TestReady_does_not_wait_for_a_broker_that_is_silent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		swallow := func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, far) }()
			return near, nil
		}
		admin, err := broker.NewAdmin(broker.Connection{Seeds: []string{"127.0.0.1:1"}, Dial: swallow})
		must(t, err)
		defer admin.Close()
		began := time.Now()
		if wrong := (&messaging{admin: admin}).reachable(t.Context()); !strings.HasPrefix(wrong, "unreachable") || time.Since(began) != pingTimeout {
			t.Errorf("%q after %s", wrong, time.Since(began))
		}
	})
}

// append has kitchen something to publish.
func (a *App) append(t *testing.T) {
	t.Helper()
	message := outbox.Message{EventID: uuid.New(), Topic: a.config.Topics.Bonuses(), Key: "k"}
	must(t, a.units[0].db.Write(t.Context(), func(c *database.Conn) error {
		return messagesql.Appender{Conn: c}.AppendOutbox([]outbox.Message{message})
	}))
	a.units[0].relay.Wake()
}

func TestReady_ends_with_a_relay_that_can_not_publish(t *testing.T) {
	a := running(t, t.TempDir())
	refused := a.messaging.embedded.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: a.config.Topics.Bonuses(), Err: kerr.TopicAuthorizationFailed, Count: -1,
	})
	a.append(t)
	a.eventually(t, false, "kitchen outbox", "nothing can be published since ")
	refused.Remove()
	a.eventually(t, true, "kitchen outbox", well)
}

func TestReady_ends_with_a_consumer_that_is_not_let_in(t *testing.T) {
	a := running(t, t.TempDir())
	a.eventually(t, true, "kitchen consumer", well)
	ofKitchen := func(r kmsg.Request) bool {
		switch r := r.(type) {
		case *kmsg.JoinGroupRequest:
			return r.Group == Kitchen
		case *kmsg.HeartbeatRequest:
			return r.Group == Kitchen
		}
		return false
	}
	refused := a.messaging.embedded.Fault(
		kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, When: ofKitchen, TopLevel: true, Err: kerr.GroupAuthorizationFailed, Count: -1},
		kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, When: ofKitchen, TopLevel: true, Err: kerr.UnknownMemberID},
	)
	a.eventually(t, false, "kitchen consumer", "is not let into its group since ")
	refused.Remove()
	a.eventually(t, true, "kitchen consumer", well)
}

func TestReady_ends_with_a_partition_that_is_held_up(t *testing.T) {
	a := running(t, t.TempDir())
	topic := a.config.Topics.EstablishmentStatuses()
	refused := a.messaging.embedded.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: topic + ".kitchen.dlq", Err: kerr.TopicAuthorizationFailed, Count: -1,
	})
	sender, err := broker.NewSender(a.messaging.connection)
	must(t, err)
	defer sender.Close()
	must(t, sender.Send(t.Context(), outbox.Message{EventID: uuid.New(), Topic: topic, Key: "k", Payload: []byte("{")}))
	a.eventually(t, false, "kitchen consumer", "a record fails and holds its partition up since ")
	refused.Remove()
	a.eventually(t, true, "kitchen consumer", well)
}

func TestReady_ends_with_an_almost_full_disk(t *testing.T) {
	data := t.TempDir()
	stopped(t, started(t, data)) // its topics are there now
	a := running(t, data, func(c *Config) { c.BrokerReserve = 1 << 60 })
	for _, service := range Services {
		a.eventually(t, false, service+" consumer", well)
	}
	wantRedOnly(t, a.probe(t.Context()), "disk")
}

func TestReady_ends_with_what_hangs_and_answers_in_time(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		var looks atomic.Int64
		v := &vitals{}
		v.add("disk", func(context.Context) string {
			looks.Add(1)
			<-hang
			return ""
		})
		v.add("folder", func(context.Context) string { return "" })
		for range 3 {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), probeTimeout)
			want := map[string]string{"disk": noAnswer, "folder": ""}
			if diff := cmp.Diff(want, v.ask(ctx)); diff != "" || time.Since(began) != probeTimeout {
				t.Errorf("after %s (-want +got):\n%s", time.Since(began), diff)
			}
			cancel()
		}
		if n := looks.Load(); n != 1 {
			t.Errorf("looked %d times at what hangs", n)
		}
		close(hang)
	})
}

// TestReady_knows_the_broker_however_seldom_it_is_asked: whoever asks each minute is told of what stands still, too.
func TestReady_knows_the_broker_however_seldom_it_is_asked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wrong atomic.Value
		wrong.Store("")
		v := &vitals{}
		v.add(brokerPart, func(context.Context) string { return wrong.Load().(string) })
		began := time.Now()
		v.watch()
		defer v.close()
		time.Sleep(time.Minute)
		if since := v.broker.learn(time.Now(), true); !since.Equal(began) {
			t.Errorf("has answered since %v, want %v", since, began)
		}
		wrong.Store("away")
		time.Sleep(2 * watchInterval)
		wrong.Store("")
		time.Sleep(time.Minute)
		if since := v.broker.learn(time.Now(), true); !since.After(began.Add(time.Minute)) {
			t.Errorf("has answered since %v, though it was away meanwhile", since)
		}
	})
}

func TestStandstill(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0).UTC() }
	since := func(second int) string { return "x since " + at(second).Format(time.RFC3339) }
	never := time.Time{}
	for _, c := range []struct {
		name          string
		broker, since time.Time
		want          string
	}{
		{"moves", at(0), never, ""},
		{"stands for a moment", at(0), at(971), ""},
		{"stands for too long", at(0), at(970), since(970)},
		{"the broker is away", never, at(100), "waits for the broker"},
		{"the broker is away and it moves", never, never, ""},
		{"the broker has just come back", at(971), at(100), ""},
		{"the broker is back for long", at(970), at(100), since(970)},
	} {
		s := standstill{now: at(1000), broker: c.broker, patience: 30 * time.Second}
		if got := s.judge(c.since, "x"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	s := standstill{now: at(1000), broker: at(0), patience: 30 * time.Second}
	held := []consume.PartitionState{{}, {BlockedSince: at(960)}, {BlockedSince: at(990)}}
	if got := s.consumer(never, held); got != "a record fails and holds its partition up since "+at(960).Format(time.RFC3339) {
		t.Error(got)
	}
	if got := s.consumer(at(950), held); got != "is not let into its group since "+at(950).Format(time.RFC3339) {
		t.Error(got)
	}
}

func TestAnswering_counts_only_what_was_seen(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	var a answering
	for _, c := range []struct {
		second  int
		answers bool
		want    time.Time
	}{
		{100, true, at(100)},
		{105, true, at(100)},
		{115, true, at(100)},
		{126, true, at(126)}, // eleven seconds in which it may have been away
		{130, false, time.Time{}},
		{131, false, time.Time{}},
		{132, true, at(132)},
		{140, true, at(132)},
	} {
		if got := a.learn(at(c.second), c.answers); !got.Equal(c.want) {
			t.Errorf("at %d: since %v, want %v", c.second, got, c.want)
		}
	}
}
