package consume_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
)

// journal is a log that tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// lines are the lines about records, without what all of them have.
func (j *journal) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for text := range bytes.Lines(j.text.Bytes()) {
		var line map[string]any
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if line["group"] != group || line["topic"] != topic || line["partition"] != 0. {
			t.Errorf("no place in %s", text)
		}
		for _, name := range []string{"time", "group", "topic", "partition"} {
			delete(line, name)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestLog(t *testing.T) {
	promise(t, "has_one_line_for_each_outcome_and_nothing_of_the_record_but_its_description", 1, linePerOutcome)
	promise(t, "asks_for_no_description_that_nobody_reads", 1, nothingToDescribe)
	t.Run("names_a_broker_that_is_away_now_and_then", func(t *testing.T) { synctest.Test(t, seldomAway) })
}

func logTo(j *journal, level slog.Level) func(*consume.Options) {
	return func(o *consume.Options) {
		o.Logger = slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: level}))
		o.Describe = func(r *kgo.Record) []slog.Attr {
			return []slog.Attr{slog.String("order_id", strings.TrimPrefix(string(r.Key), "k-"))}
		}
	}
}

func linePerOutcome(r *rig) {
	var j journal
	tries := 0
	handler := func(record *kgo.Record) error {
		switch tries++; {
		case string(record.Value) == "poison":
			return errDomain
		case string(record.Value) == "late" && tries < 4:
			return errTransient
		}
		return nil
	}
	records := values(0, "good", "poison", "late")
	for _, record := range records {
		record.Headers = []kgo.RecordHeader{header("idempotency-key", "secret")}
	}
	r.send(records...)
	r.start(each(handler), logTo(&j, slog.LevelDebug)).awaitCommit(0, 3)
	type line = map[string]any
	want := []line{
		{"level": "DEBUG", "msg": "record settled", "offset": 0., "order_id": "good"},
		{"level": "WARN", "msg": "dead letter", "offset": 1., "order_id": "poison", "code": "not_found", "attempts": 1., "error": errDomain.Error()},
		{"level": "WARN", "msg": "trying again", "offset": 2., "order_id": "late", "step": "handle", "error": errTransient.Error()},
		{"level": "DEBUG", "msg": "record settled", "offset": 2., "order_id": "late"},
	}
	if diff := cmp.Diff(want, j.lines(r.T)); diff != "" {
		r.Errorf("log (-want +got):\n%s", diff)
	}
	if strings.Contains(j.String(), "secret") {
		r.Error("a header is in the log")
	}
}

func nothingToDescribe(r *rig) {
	var j journal
	r.send(values(0, "good")...)
	r.start(apply(new(log)), logTo(&j, slog.LevelInfo), func(o *consume.Options) {
		o.Describe = func(*kgo.Record) []slog.Attr {
			r.Error("described")
			return nil
		}
	}).awaitCommit(0, 1)
}

// seldomAway: polls fail several times a second while a broker is away, and an hour of that must not fill a disk.
func seldomAway(t *testing.T) {
	var network kfake.VirtualNetwork
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(9092), kfake.ListenFn(network.Listen),
		kfake.SeedTopics(1, topic, deadLetters))
	if err != nil {
		t.Fatal(err)
	}
	r := rigOn(t, cluster, []kgo.Opt{kgo.SeedBrokers("localhost:9092"), kgo.Dialer(network.DialContext)})
	var j journal
	var failed atomic.Int64
	m := r.start(apply(new(log)), logTo(&j, slog.LevelWarn), func(o *consume.Options) {
		o.Events.PollFailed = func(error) { failed.Add(1) }
	})
	r.send(values(0, "good")...)
	m.awaitCommit(0, 1)
	cluster.Close()
	time.Sleep(10 * time.Minute)
	if n := strings.Count(j.String(), "poll failed"); n < 2 || n > 20 || failed.Load() < 100 {
		t.Errorf("%d lines about %d failures, want one each half minute", n, failed.Load())
	}
	m.close()
	r.produce.Close()
}
