package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/event"
)

func TestRestart(t *testing.T) {
	t.Run("keeps_records_and_commits_after_a_stop", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		produce(t, r.Connection(), topics.Orders(), 10)
		r.commit(reporting, topics.Orders(), 7)
		r.stop()
		again := open(t, dir)
		again.wantBounds(topics.Orders(), 0, 10)
		again.wantCommitted(reporting, topics.Orders(), 7)
	})

	t.Run("keeps_records_and_commits_after_a_kill", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		produce(t, r.Connection(), topics.Orders(), 10)
		r.commit(reporting, topics.Orders(), 7)
		again := open(t, killed(t, dir))
		again.wantBounds(topics.Orders(), 0, 10)
		again.wantCommitted(reporting, topics.Orders(), 7)
	})

	t.Run("commits_behind_a_torn_log_survive_the_next_kill", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		produce(t, r.Connection(), topics.Orders(), 100)
		r.commit(reporting, topics.Orders(), 10)
		torn := killed(t, dir)
		tear(t, filepath.Join(torn, "log", "groups.log"))

		healed := open(t, torn)
		healed.wantCommitted(reporting, topics.Orders(), 10)
		healed.commit(reporting, topics.Orders(), 60)

		again := open(t, killed(t, torn))
		again.wantCommitted(reporting, topics.Orders(), 60)
	})

	t.Run("is_not_stopped_by_a_group_without_offsets", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		client, err := kgo.NewClient(r.Connection().Options()...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		join := kmsg.NewPtrShareGroupHeartbeatRequest()
		join.GroupID, join.MemberID, join.SubscribedTopicNames = "sharing", "AAAAAAAAAAAAAAAAAAAAAA", []string{topics.Orders()}
		if answer, err := join.RequestWith(t.Context(), client); err != nil || answer.ErrorCode != 0 {
			t.Fatal(answer, err)
		}
		r.stop()
		open(t, dir)
	})

	t.Run("puts_offsets_beyond_the_log_back_to_its_start", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		produce(t, r.Connection(), topics.Orders(), 10)
		r.commit(reporting, topics.Orders(), 1000)
		r.commit(event.GroupEstablishment, topics.Orders(), 10)
		r.stop()
		again := open(t, dir)
		again.wantCommitted(reporting, topics.Orders(), 0)
		again.wantCommitted(event.GroupEstablishment, topics.Orders(), 10)
	})
}

func TestBroker_of_an_existing_folder(t *testing.T) {
	t.Run("makes_nothing_where_no_broker_was", func(t *testing.T) {
		empty := t.TempDir()
		for _, dir := range []string{empty, filepath.Join(empty, "broker")} {
			_, err := embedded.Open(t.Context(), embedded.Options{Dir: dir, Existing: true, Topics: topics})
			if !errors.Is(err, embedded.ErrAbsent) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v", err)
			}
		}
		if entries, err := os.ReadDir(empty); err != nil || len(entries) > 0 {
			t.Errorf("made %v, %v", entries, err)
		}
	})
	t.Run("leaves_topics_and_offsets_as_they_are", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		produce(t, r.Connection(), topics.Orders(), 10)
		r.commit(reporting, topics.Orders(), 1000)
		r.stop()
		b, err := embedded.Open(t.Context(), embedded.Options{Dir: dir, Existing: true, Topics: event.Topics{Prefix: "other."}})
		if err != nil {
			t.Fatal(err)
		}
		admin, err := broker.NewAdmin(b.Connection())
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			admin.Close()
			if err := b.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		if _, _, err := admin.Bounds(t.Context(), "other.orders"); !errors.Is(err, kerr.UnknownTopicOrPartition) {
			t.Errorf("another topic: %v", err)
		}
		if committed, err := admin.Committed(t.Context(), reporting, topics.Orders()); err != nil || committed[0] != 1000 {
			t.Errorf("committed %v, %v", committed, err)
		}
	})
}

// tear appends half an entry, as a power loss in the middle of a write does.
func tear(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte{0, 0, 0, 40, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	t.Run("that_lost_a_file_is_refused", func(t *testing.T) {
		for _, name := range []string{"meta.json", "topics.json"} {
			dir := t.TempDir()
			r := open(t, dir)
			produce(t, r.Connection(), topics.Orders(), 1)
			r.stop()
			if err := os.Remove(filepath.Join(dir, "log", name)); err != nil {
				t.Fatal(err)
			}
			if b, err := embedded.Open(t.Context(), embedded.Options{Dir: dir, Topics: topics}); err == nil {
				t.Errorf("opened without %s: %v", name, b.Close(t.Context()))
			}
		}
	})

	t.Run("belongs_to_one_broker", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		_, err := embedded.Open(t.Context(), embedded.Options{Dir: dir, Topics: topics})
		if !errors.Is(err, embedded.ErrLocked) || !strings.Contains(err.Error(), dir) {
			t.Fatalf("second broker: %v", err)
		}
		produce(t, r.Connection(), topics.Orders(), 1) // the first is not disturbed
		r.stop()
		open(t, dir).wantBounds(topics.Orders(), 0, 1)
	})

	t.Run("is_closed_to_others_and_marked_while_in_use", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "broker")
		marker := filepath.Join(dir, "dirty")
		r := open(t, dir)
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("mode %v", info.Mode())
		}
		if _, err := os.Stat(marker); err != nil {
			t.Error(err)
		}
		r.stop()
		if _, err := os.Stat(marker); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("marker after close: %v", err)
		}
	})
}

func TestPause(t *testing.T) {
	r := open(t, t.TempDir(), onPort)
	conn := broker.Connection{Seeds: []string{r.Addr()}}
	clients := map[string]*kgo.Client{}
	for name, c := range map[string]broker.Connection{"memory": r.Connection(), "tcp": conn} {
		client, err := kgo.NewClient(c.ProducerOptions()...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		clients[name] = client
	}
	send := func(name string) {
		t.Helper()
		record := &kgo.Record{Topic: topics.Orders(), Value: []byte(name)}
		if err := clients[name].ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	send("memory")
	send("tcp")
	for range 2 { // pausing twice is pausing once
		if err := r.Pause(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Connection().Dial(t.Context(), "tcp", "anywhere:1"); err == nil {
		t.Error("connected to a paused broker")
	}
	for range 2 {
		if err := r.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	send("memory")
	send("tcp")
	r.wantBounds(topics.Orders(), 0, 4)
}

func TestClose(t *testing.T) {
	t.Run("works_on_a_paused_broker", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		if err := r.Pause(); err != nil {
			t.Fatal(err)
		}
		r.stop()
		open(t, dir)
	})

	t.Run("does_not_outlive_its_context", func(t *testing.T) {
		r := open(t, t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.Broker.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
