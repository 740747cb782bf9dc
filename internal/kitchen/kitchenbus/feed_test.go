package kitchenbus

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/event"
)

const patience = 30 * time.Second // only bounds failures

// feeding is a feed that runs, on a broker of its own.
type feeding struct {
	t        *testing.T
	hub      *Hub
	producer *kgo.Client
}

func newFeeding(t *testing.T) *feeding {
	t.Helper()
	topics := event.Topics{Prefix: "test."}
	b, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Topics: topics})
	must(t, err)
	t.Cleanup(func() { must(t, b.Close(context.Background())) })
	producer, err := kgo.NewClient(append(b.Connection().Options(),
		kgo.DefaultProduceTopic(topics.Orders()), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	must(t, err)
	t.Cleanup(producer.Close)
	f := &feeding{t: t, hub: &Hub{}, producer: producer}
	feed, err := NewFeed(b.Connection(), topics, f.hub, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(feed.Close)
	f.run(feed)
	return f
}

// run runs the feed until the test ends.
func (f *feeding) run(feed *Feed) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		feed.Run(ctx)
	}()
	f.t.Cleanup(func() {
		cancel()
		<-ended
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tell produces a record about an order. All of them go to one partition, so that the feed reads them in order.
func (f *feeding) tell(key string, headers ...kgo.RecordHeader) {
	f.t.Helper()
	record := &kgo.Record{Key: []byte(key), Value: []byte(`{}`), Headers: headers}
	must(f.t, f.producer.ProduceSync(f.t.Context(), record).FirstErr())
}

// begin returns once the feed reads: it begins at the end of the log, wherever that is by then.
func (f *feeding) begin() {
	f.t.Helper()
	id := uuid.New()
	changed, stop := f.hub.Watch(id)
	defer stop()
	deadline := time.After(patience)
	for {
		f.tell(id.String())
		select {
		case <-changed:
			return
		case <-deadline:
			f.t.Fatal("the feed does not read")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (f *feeding) awaitWake(changed <-chan struct{}) {
	f.t.Helper()
	select {
	case <-changed:
	case <-time.After(patience):
		f.t.Fatal("not woken")
	}
}

func TestFeed_wakes_who_watches_the_order_of_a_record(t *testing.T) {
	f := newFeeding(t)
	f.begin()
	id := uuid.New()
	changed, _ := f.hub.Watch(id)
	f.tell(id.String())
	f.awaitWake(changed)
}

func TestFeed_passes_over_what_concerns_no_watcher(t *testing.T) {
	f := newFeeding(t)
	f.begin()
	redriven, next := uuid.New(), uuid.New()
	silent, _ := f.hub.Watch(redriven)
	changed, _ := f.hub.Watch(next)
	f.tell(redriven.String(), kgo.RecordHeader{Key: consume.HeaderRedriveGroup, Value: []byte("establishment")})
	f.tell("no order")
	f.tell("")
	f.tell(next.String())
	f.awaitWake(changed)
	if woken(silent) {
		t.Error("woken by a redriven record")
	}
}
