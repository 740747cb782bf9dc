package consume_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/consume"
	"kuhnya/consume/consumetest"
)

func header(key, value string) kgo.RecordHeader {
	return kgo.RecordHeader{Key: key, Value: []byte(value)}
}

func valueOf(t *testing.T, r *kgo.Record, key string) string {
	t.Helper()
	var found []string
	for _, h := range r.Headers {
		if h.Key == key {
			found = append(found, string(h.Value))
		}
	}
	if len(found) != 1 {
		t.Fatalf("header %s: %q, want one", key, found)
	}
	return found[0]
}

func TestDeadLetter(t *testing.T) {
	promise(t, "poison_between_good_records_is_kept_whole", 1, poisonIsKeptWhole)
	promise(t, "nil_value_stays_nil", 1, nilStaysNil)
	promise(t, "offset_waits_for_the_dead_letter_topic", 1, offsetWaitsForTopic)
	promise(t, "that_is_not_published_is_not_saved_by_a_stop", 1, notSavedByStop)
	promise(t, "is_published_once_while_the_store_fails", 1, publishedOnceWhileStoreFails)
	promise(t, "is_one_row_after_a_crash_before_the_commit", 1, oneRowAfterCrash)
	promise(t, "is_not_repeated_by_restarts", 1, notRepeatedByRestarts)
	promise(t, "of_a_record_at_the_size_limit_leaves_its_value_out", 1, oversizeLeavesValueOut)
	promise(t, "of_huge_headers_and_key_leaves_them_out", 1, oversizeLeavesAllOut)
	promise(t, "refused_as_too_large_by_the_broker_leaves_its_value_out", 1, brokerRefusesSize)
	promise(t, "of_a_redriven_record_carries_its_count_and_does_not_grow", 1, redrivenAgain)
}

func poisonIsKeptWhole(r *rig) {
	applied := new(log)
	headers := []kgo.RecordHeader{
		header("ce_type", "x"), {Key: "nothing"}, {Key: "empty", Value: []byte{}}, {Key: "\xff", Value: []byte{0xfe}},
	}
	r.send(values(0, "{1}")...)
	r.send(&kgo.Record{Key: []byte("order"), Value: []byte("{"), Headers: headers})
	r.send(values(0, "{2}")...)
	r.start(each(applied.strict)).awaitCommit(0, 3)

	applied.expect(r.T, "{1}", "{2}")
	row := r.expectDead(1)[0]
	want := consume.DeadLetter{
		Group: group, Topic: topic, Partition: 0, Offset: 1, Key: []byte("order"), Value: []byte("{"),
		ErrorCode: "not_found", ErrorMessage: errDomain.Error(), Attempts: 1, FailedAt: row.FailedAt,
	}
	for _, h := range headers {
		want.Headers = append(want.Headers, consume.Header(h))
	}
	if diff := cmp.Diff(want, row); diff != "" {
		r.Errorf("row (-want +got):\n%s", diff)
	}
	letters := r.published()
	if len(letters) != 1 || string(letters[0].Key) != "order" || string(letters[0].Value) != "{" {
		r.Fatalf("published %v, want the poison alone", letters)
	}
	wantHeaders := append(headers,
		header("x-dlq-original-topic", topic), header("x-dlq-original-partition", "0"), header("x-dlq-original-offset", "1"),
		header("x-dlq-group", group), header("x-dlq-error-code", "not_found"), header("x-dlq-error-message", errDomain.Error()),
		header("x-dlq-attempts", "1"), header("x-dlq-failed-at", row.FailedAt.Format(time.RFC3339Nano)),
		header("x-dlq-redrive-count", "0"))
	if diff := cmp.Diff(wantHeaders, letters[0].Headers); diff != "" {
		r.Errorf("headers (-want +got):\n%s", diff)
	}
}

func nilStaysNil(r *rig) {
	r.send(&kgo.Record{})
	r.start(each(new(log).strict)).awaitCommit(0, 1)
	if row := r.expectDead(0)[0]; row.Value != nil || row.Key != nil || row.Headers != nil {
		r.Errorf("row has key %#v, value %#v, headers %#v; want nil", row.Key, row.Value, row.Headers)
	}
	if letter := r.published()[0]; letter.Value != nil || letter.Key != nil {
		r.Errorf("published key %#v, value %#v; want nil", letter.Key, letter.Value)
	}
}

func offsetWaitsForTopic(r *rig) {
	applied := new(log)
	refuse := r.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: deadLetters, Err: kerr.TopicAuthorizationFailed, Count: -1,
	})
	r.send(values(0, "{1}", "{", "{2}")...)
	m := r.start(each(applied.strict))
	for range 3 {
		m.awaitRetry(consume.StepPublish)
	}
	r.expectDead()
	if got := r.offset(0); got > 1 {
		r.Errorf("offset %d has passed a record that is not a dead letter yet", got)
	}
	if state := m.consumer.State()[0]; state.BlockedSince.IsZero() || state.Next != 1 {
		r.Errorf("state %+v, want blocked at 1", state)
	}
	refuse.Remove()
	m.awaitCommit(0, 3)
	r.expectDead(1)
	if letters := r.published(); len(letters) != 1 || string(letters[0].Value) != "{" {
		r.Errorf("published %v, want the poison alone", letters)
	}
	if state := m.consumer.State()[0]; !state.BlockedSince.IsZero() {
		r.Errorf("state %+v, want moving", state)
	}
	applied.expect(r.T, "{1}", "{2}")
}

func notSavedByStop(r *rig) {
	refuse := r.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: deadLetters, Err: kerr.TopicAuthorizationFailed, Count: -1,
	})
	r.send(values(0, "{")...)
	m := r.start(each(new(log).strict))
	m.awaitRetry(consume.StepPublish)
	m.close()
	r.expectDead()
	r.expectOffset(0, -1)

	refuse.Remove()
	r.start(each(new(log).strict)).awaitCommit(0, 1)
	r.expectDead(0)
	if n := len(r.published()); n != 1 {
		r.Errorf("published %d times, want once", n)
	}
}

// failing is a store that refuses the first saves.
type failing struct {
	consumetest.Memory
	left atomic.Int32
}

func (f *failing) Save(ctx context.Context, d consume.DeadLetter) error {
	if f.left.Add(-1) >= 0 {
		return errors.New("disk full")
	}
	return f.Memory.Save(ctx, d)
}

func publishedOnceWhileStoreFails(r *rig) {
	store := new(failing)
	store.left.Store(7)
	r.send(values(0, "{")...)
	m := r.start(each(new(log).strict), func(o *consume.Options) { o.DeadLetters = store })
	for range 7 {
		m.awaitRetry(consume.StepSave)
	}
	m.awaitCommit(0, 1)
	r.store = &store.Memory
	r.expectDead(0)
	if n := len(r.published()); n != 1 {
		r.Errorf("published %d times, want once", n)
	}
}

func oneRowAfterCrash(r *rig) {
	r.send(values(0, "{1}", "{")...)
	buried := make(chan consume.DeadLetter, 10)
	started := make(chan *member, 1)
	first := r.start(each(new(log).strict), func(o *consume.Options) {
		o.Events.DeadLettered = func(d consume.DeadLetter) {
			(<-started).wire.cut() // between the dead letter and the commit
			buried <- d
		}
	})
	started <- first
	next(r.T, buried)
	first.crash()
	r.expectOffset(0, -1)

	r.start(each(new(log).strict)).awaitCommit(0, 2)
	r.expectDead(1)
	for _, letter := range r.published() {
		if got := valueOf(r.T, letter, consume.HeaderOriginalOffset); got != "1" {
			r.Errorf("published a dead letter of offset %s", got)
		}
	}
}

func notRepeatedByRestarts(r *rig) {
	var poisonSeen atomic.Int32
	handler := each(func(record *kgo.Record) error {
		if string(record.Value) == "{" {
			poisonSeen.Add(1)
			return errDomain
		}
		return nil
	})
	r.send(values(0, "{1}", "{")...)
	m := r.start(handler)
	m.awaitCommit(0, 2)
	m.close()
	for i := range 2 {
		r.send(values(0, "{}")...)
		again := r.start(handler)
		again.awaitCommit(0, int64(3+i))
		again.close()
	}
	r.expectDead(1)
	if n := poisonSeen.Load(); n != 1 || len(r.published()) != 1 {
		r.Errorf("poison handled %d times, published %d times, want once", n, len(r.published()))
	}
}

func redrivenAgain(r *rig) {
	r.send(&kgo.Record{Value: []byte("{"), Headers: []kgo.RecordHeader{header("ce_id", "1")}})
	m := r.start(each(new(log).strict))
	m.awaitCommit(0, 1)
	for n := range 3 {
		rows, _ := r.store.List(r.Context())
		again := &kgo.Record{Value: rows[n].Value}
		for _, h := range rows[n].RedriveHeaders() {
			again.Headers = append(again.Headers, kgo.RecordHeader(h))
		}
		r.send(again)
		m.awaitCommit(0, int64(n+2))
	}
	rows := r.expectDead(0, 1, 2, 3)
	letters := r.published()
	for n, row := range rows {
		if row.RedriveCount != n || valueOf(r.T, letters[n], consume.HeaderRedriveCount) != string(rune('0'+n)) {
			r.Errorf("dead letter %d has redrive count %d", n, row.RedriveCount)
		}
		if len(row.Headers) != 1 || len(letters[n].Headers) != len(letters[0].Headers) {
			r.Errorf("dead letter %d has headers %v", n, letters[n].Headers)
		}
		if _, ok := consume.RedrivenFor(letters[n].Headers); ok {
			r.Errorf("dead letter %d still names the group of its redrive", n)
		}
	}
}
