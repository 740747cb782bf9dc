package opstest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/fault"
	"kuhnya/internal/ops"
	"kuhnya/outbox"
)

func sendsTheRecord(t *testing.T, w *world) {
	original := record()
	original.RedriveCount = 2
	letter := w.save(original)
	w.mustRedrive(letter.ID)
	want := outbox.Message{Topic: original.Topic, Key: string(original.Key), Payload: original.Value}
	for _, h := range original.Headers {
		want.Headers = append(want.Headers, outbox.Header(h))
	}
	want.Headers = append(want.Headers,
		outbox.Header{Key: "x-dlq-redrive-group", Value: []byte("kitchen")},
		outbox.Header{Key: "x-dlq-redrive-count", Value: []byte("3")})
	if diff := cmp.Diff([]outbox.Message{want}, w.sent()); diff != "" {
		t.Errorf("outbox (-want +got):\n%s", diff)
	}
	if w.woken.Load() == 0 {
		t.Error("nobody woke the relay")
	}
	letter.State = ops.Redriven
	if diff := cmp.Diff(letter, w.find(letter.ID)); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
}

func keepsAbsence(t *testing.T, w *world) {
	tombstone, empty := record(), record()
	tombstone.Value, tombstone.Headers = nil, nil
	empty.Value = []byte{}
	w.mustRedrive(w.save(tombstone).ID)
	w.mustRedrive(w.save(empty).ID)
	sent := w.sent()
	if len(sent) != 2 || sent[0].Payload != nil || sent[1].Payload == nil || len(sent[1].Payload) != 0 {
		t.Errorf("sent %+v, want a nil payload, then an empty one", sent)
	}
}

func sendsOnce(_ *testing.T, w *world) {
	id := w.save(record()).ID
	for range 3 {
		w.mustRedrive(id)
		w.mustHaveSent(1)
	}
	w.mustStandAt(id, ops.Redriven, "")
}

func sendsOnceForMany(_ *testing.T, w *world) {
	id := w.save(record()).ID
	inParallel(20, func(int) {
		if letter, err := w.rules.Redrive(w.Context(), id); err != nil || letter.State != ops.Redriven {
			w.Errorf("%s, error %v", letter.State, err)
		}
	})
	w.mustHaveSent(1)
}

func refusesDiscarded(_ *testing.T, w *world) {
	id := w.save(record()).ID
	_, err := w.rules.Discard(w.Context(), id, "a test order")
	w.must(err)
	_, err = w.rules.Redrive(w.Context(), id)
	w.mustRefuse(err, fault.DeadLetterDiscarded)
	w.mustHaveSent(0)
	w.mustStandAt(id, ops.Discarded, "a test order")
}

func refusesAtTheLimit(_ *testing.T, w *world) {
	last, over := record(), record()
	last.RedriveCount, over.RedriveCount = ops.MaxRedrives-1, ops.MaxRedrives
	w.mustRedrive(w.save(last).ID)
	id := w.save(over).ID
	_, err := w.rules.Redrive(w.Context(), id)
	w.mustRefuse(err, fault.RedriveLimit)
	w.mustHaveSent(1)
	w.mustStandAt(id, ops.Open, "")
	_, err = w.rules.Discard(w.Context(), id, "hopeless")
	w.must(err)
}

func knowsNoOthers(_ *testing.T, w *world) {
	w.save(record())
	_, err := w.rules.Redrive(w.Context(), uuid.New())
	w.mustRefuse(err, fault.NotFound)
	_, err = w.rules.Discard(w.Context(), uuid.New(), "reason")
	w.mustRefuse(err, fault.NotFound)
	w.mustHaveSent(0)
}

// changesNothing: the state and the outbox row are one transaction. A record too large for the outbox shows it.
func changesNothing(_ *testing.T, w *world) {
	large := record()
	large.Value = make([]byte, 2<<20)
	id := w.save(large).ID
	_, err := w.rules.Redrive(w.Context(), id)
	w.mustRefuse(err, fault.PayloadTooLarge)
	w.mustHaveSent(0)
	w.mustStandAt(id, ops.Open, "")
}
