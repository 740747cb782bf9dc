package broker_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/internal/broker"
	"kuhnya/outbox"
)

var _ outbox.Publisher = (*broker.Publisher)(nil)

func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// verdicts names each row's outcome, so that a test can state what it expects of all.
func verdicts(errs []error) []string {
	names := make([]string, len(errs))
	for i, err := range errs {
		switch {
		case err == nil:
			names[i] = "published"
		case errors.Is(err, outbox.ErrUnpublishable):
			names[i] = "unpublishable"
		case errors.Is(err, broker.ErrHeld):
			names[i] = "held"
		default:
			names[i] = "failed"
		}
	}
	return names
}

func want(t *testing.T, got []error, verdict ...string) {
	t.Helper()
	if diff := cmp.Diff(verdict, verdicts(got)); diff != "" {
		t.Errorf("outcome (-want +got):\n%s\nerrors: %v", diff, got)
	}
}

func TestPublisher(t *testing.T) {
	t.Run("publishes_rows_of_a_key_in_order_and_whole", func(t *testing.T) {
		b := open(t)
		p := newPublisher(t, b.Connection())
		var rows []outbox.Row
		for i := range 200 {
			r := row(topics.Orders(), fmt.Sprint("key", i%7), []byte(fmt.Sprint(i)))
			r.Headers = []outbox.Header{{Key: "a", Value: []byte("1")}, {Key: "a", Value: []byte{}}}
			r.CreatedAt = time.Unix(1, 0)
			rows = append(rows, r)
		}
		rows[3].Payload = nil
		for i, err := range p.Publish(t.Context(), rows) {
			if err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
		}
		byKey := make(map[string][]string)
		for _, r := range read(t, b.Connection(), topics.Orders(), len(rows)) {
			byKey[string(r.Key)] = append(byKey[string(r.Key)], string(r.Value))
			if diff := cmp.Diff([]kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "a", Value: []byte{}}}, r.Headers); diff != "" {
				t.Fatalf("headers (-want +got):\n%s", diff)
			}
			if r.Timestamp.Before(rows[0].CreatedAt.Add(time.Hour)) {
				t.Fatalf("record time %v is the row's", r.Timestamp)
			}
			if string(r.Key) == "key3" && r.Offset == 0 && r.Value != nil {
				t.Fatal("nil payload became a value")
			}
		}
		for i, r := range rows {
			if got := byKey[r.Key][i/7]; got != string(r.Payload) {
				t.Fatalf("record %d of %s is %q, want %q", i/7, r.Key, got, r.Payload)
			}
		}
	})

	t.Run("row_above_the_client_limit_is_unpublishable_and_holds_its_key_only", func(t *testing.T) {
		p := newPublisher(t, open(t).Connection())
		got := p.Publish(t.Context(), []outbox.Row{
			row(topics.Orders(), "a", nil), row(topics.Orders(), "b", noise(2<<20)),
			row(topics.Orders(), "b", nil), row(topics.Orders(), "c", nil), row(topics.Orders(), "b", nil),
		})
		want(t, got, "published", "unpublishable", "held", "published", "held")
	})

	t.Run("row_that_barely_fits_is_published_before_the_next_of_its_key", func(t *testing.T) {
		b := open(t)
		p := newPublisher(t, b.Connection())
		got := p.Publish(t.Context(), []outbox.Row{
			row(topics.Orders(), "a", noise(1048588-100)), row(topics.Orders(), "a", nil),
		})
		want(t, got, "published", "published")
		if records := read(t, b.Connection(), topics.Orders(), 2); len(records[0].Value) == 0 {
			t.Error("the later row came first")
		}
	})

	t.Run("row_above_the_topic_limit_is_unpublishable_and_its_neighbours_are_not", func(t *testing.T) {
		b := open(t)
		a := newAdmin(t, b.Connection())
		limit := "2000"
		if _, err := a.Kafka().CreateTopic(t.Context(), 1, 1, map[string]*string{"max.message.bytes": &limit}, "narrow"); err != nil {
			t.Fatal(err)
		}
		p := newPublisher(t, b.Connection())
		rows := []outbox.Row{
			row("narrow", "a", noise(10)), row("narrow", "b", noise(3000)), row("narrow", "b", noise(10)), row("narrow", "c", noise(10)),
		}
		want(t, p.Publish(t.Context(), rows), "published", "unpublishable", "held", "published")
		want(t, p.Publish(t.Context(), rows[2:3]), "published")
	})

	t.Run("refusal_that_passes_is_no_verdict", func(t *testing.T) {
		b := open(t)
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord, Count: 1})
		p := newPublisher(t, b.Connection())
		want(t, p.Publish(t.Context(), []outbox.Row{row(topics.Orders(), "a", nil)}), "published")
	})

	t.Run("failure_of_the_broker_fails_the_row_and_holds_the_rest_of_its_key", func(t *testing.T) {
		b := open(t)
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.UnknownServerError, Count: 1})
		p := newPublisher(t, b.Connection())
		rows := []outbox.Row{row(topics.Orders(), "a", nil), row(topics.Orders(), "a", nil)}
		want(t, p.Publish(t.Context(), rows), "failed", "held")
		want(t, p.Publish(t.Context(), rows), "published", "published")
	})
}

func TestPublisherWithoutAnswers(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.ApiVersions, kmsg.Metadata, kmsg.InitProducerID, kmsg.Produce} {
		t.Run(fmt.Sprintf("%s_never_answered_ends_with_the_context", kmsg.NameForKey(int16(key))), func(t *testing.T) {
			stalling, conn := stall(open(t).Connection(), key)
			p := newPublisher(t, conn)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-stalling.swallowed; cancel() }()
			got := p.Publish(ctx, []outbox.Row{row(topics.Orders(), "a", nil), row(topics.Orders(), "b", nil)})
			want(t, got, "failed", "failed")
		})
	}

	t.Run("next_rows_are_published_when_the_broker_answers_again", func(t *testing.T) {
		stalling, conn := stall(open(t).Connection(), kmsg.Produce)
		p := newPublisher(t, conn)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-stalling.swallowed; cancel() }()
		rows := []outbox.Row{row(topics.Orders(), "a", nil)}
		want(t, p.Publish(ctx, rows), "failed")
		stalling.off()
		for {
			errs := p.Publish(t.Context(), rows)
			if errs[0] == nil {
				break
			}
			t.Log(errs[0])
		}
	})

	t.Run("call_waits_its_turn_only_as_long_as_its_context", func(t *testing.T) {
		stalling, conn := stall(open(t).Connection(), kmsg.Produce)
		p := newPublisher(t, conn)
		first, end := context.WithCancel(t.Context())
		done := make(chan []error)
		go func() { done <- p.Publish(first, []outbox.Row{row(topics.Orders(), "a", nil)}) }()
		<-stalling.swallowed
		second, cancel := context.WithCancel(t.Context())
		cancel()
		want(t, p.Publish(second, []outbox.Row{row(topics.Orders(), "b", nil)}), "failed")
		end()
		want(t, <-done, "failed")
	})
}

func TestSender(t *testing.T) {
	t.Run("first_message_after_an_outage_is_sent", func(t *testing.T) {
		b := open(t)
		s := newSender(t, b.Connection())
		if err := s.Send(t.Context(), message(topics.Orders(), "a", nil)); err != nil {
			t.Fatal(err)
		}
		if err := b.Pause(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := s.Send(ctx, message(topics.Orders(), "a", nil)); err == nil {
			t.Fatal("sent without a broker")
		}
		if err := b.Resume(); err != nil {
			t.Fatal(err)
		}
		press, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := s.Send(press, message(topics.Orders(), "a", nil)); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("message_survives_a_neighbour_that_gave_up", func(t *testing.T) {
		stalling, conn := stall(open(t).Connection(), kmsg.Produce)
		s := newSender(t, conn)
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := make(chan error)
		go func() { gaveUp <- s.Send(ctx, message(topics.Orders(), "a", nil)) }()
		<-stalling.swallowed
		sent := make(chan error)
		go func() { sent <- s.Send(t.Context(), message(topics.Orders(), "a", nil)) }()
		stalling.off()
		cancel()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled call: %v", err)
		}
		if err := <-sent; err != nil {
			t.Errorf("neighbour: %v", err)
		}
	})

	t.Run("message_too_large_is_unpublishable", func(t *testing.T) {
		s := newSender(t, open(t).Connection())
		err := s.Send(t.Context(), message(topics.Orders(), "a", noise(2<<20)))
		if !errors.Is(err, outbox.ErrUnpublishable) {
			t.Errorf("got %v", err)
		}
	})
}
