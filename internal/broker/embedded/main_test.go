package embedded_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/event"
)

// reporting is a group that this product doesn't declare.
const reporting = "reporting"

var topics = event.Topics{Prefix: event.DefaultPrefix}

// run is an open broker and an admin of it.
type run struct {
	*embedded.Broker
	*broker.Admin
	t *testing.T
}

func open(t *testing.T, dir string, change ...func(*embedded.Options)) *run {
	t.Helper()
	o := embedded.Options{Dir: dir, Topics: topics, Partitions: 1}
	for _, c := range change {
		c(&o)
	}
	b, err := embedded.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := broker.NewAdmin(b.Connection())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		admin.Close()
		b.Close(context.Background())
	})
	return &run{b, admin, t}
}

func onPort(o *embedded.Options) { o.Addr = "127.0.0.1:0" }

// stop closes the broker in order.
func (r *run) stop() {
	r.t.Helper()
	if err := r.Broker.Close(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

func produce(t *testing.T, conn broker.Connection, topic string, n int) {
	t.Helper()
	client, err := kgo.NewClient(conn.ProducerOptions()...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var records []*kgo.Record
	for i := range n {
		records = append(records, &kgo.Record{Topic: topic, Value: fmt.Append(nil, i)})
	}
	if err := client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func (r *run) commit(group, topic string, at int64) {
	r.t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, at, -1)
	if err := r.Kafka().CommitAllOffsets(r.t.Context(), group, offsets); err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) wantCommitted(group, topic string, at int64) {
	r.t.Helper()
	committed, err := r.Committed(r.t.Context(), group, topic)
	if err != nil {
		r.t.Fatal(err)
	}
	if got, ok := committed[0]; !ok || got != at {
		r.t.Errorf("group %s committed %v of %s, want %d", group, committed, topic, at)
	}
}

func (r *run) wantBounds(topic string, start, end int64) {
	r.t.Helper()
	starts, ends, err := r.Bounds(r.t.Context(), topic)
	if err != nil {
		r.t.Fatal(err)
	}
	if starts[0] != start || ends[0] != end {
		r.t.Errorf("%s holds %d to %d, want %d to %d", topic, starts[0], ends[0], start, end)
	}
}

func (r *run) trim() {
	r.t.Helper()
	if err := r.Trim(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// killed returns a copy of the folder of a running broker: what a killed process would leave.
func killed(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(copied, rel), 0o700)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(copied, rel), content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return copied
}
