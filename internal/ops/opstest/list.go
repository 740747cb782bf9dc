package opstest

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/ops"
)

func pages(t *testing.T, w *world) {
	want := map[ops.State][]uuid.UUID{}
	for i := range 9 {
		id := w.save(record()).ID
		state := []ops.State{ops.Open, ops.Redriven, ops.Discarded}[i%3]
		switch state {
		case ops.Redriven:
			w.mustRedrive(id)
		case ops.Discarded:
			_, err := w.rules.Discard(t.Context(), id, "reason "+strconv.Itoa(i))
			w.must(err)
		}
		want[state], want[""] = append(want[state], id), append(want[""], id)
	}
	for state, ids := range want {
		var got []uuid.UUID
		after := uuid.Nil
		for {
			page := w.list(state, after, 2)
			if len(page) > 2 {
				t.Fatalf("page of %d, limit 2", len(page))
			}
			if len(page) == 0 {
				break
			}
			for _, letter := range page {
				got, after = append(got, letter.ID), letter.ID
			}
		}
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Errorf("state %q (-want +got):\n%s", state, diff)
		}
	}
}

func leavesOut(t *testing.T, w *world) {
	for _, value := range [][]byte{nil, {}, []byte("{\xff"), make([]byte, 1<<20+1)} {
		letter := record()
		letter.Value = value
		want := w.save(letter).Summarize()
		if want.ValueBytes != int64(len(value)) {
			t.Fatalf("%d bytes of %d", want.ValueBytes, len(value))
		}
		list := w.list(ops.Open, uuid.Nil, 1000)
		if diff := cmp.Diff(want, list[len(list)-1]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func cutsKeys(t *testing.T, w *world) {
	for _, n := range []int{ops.MaxListedKey, ops.MaxListedKey + 1, 1 << 20} {
		letter := record()
		letter.Key = bytes.Repeat([]byte("я\xff"), n)[:n]
		saved := w.save(letter)
		want := saved.Summarize()
		if want.KeyBytes != int64(n) || len(want.Key) != ops.MaxListedKey {
			t.Fatalf("%d of %d bytes of %d", len(want.Key), want.KeyBytes, n)
		}
		list := w.list(ops.Open, uuid.Nil, 1000)
		if diff := cmp.Diff(want, list[len(list)-1]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		whole, _, err := w.engine.Store.DeadLetter(t.Context(), saved.ID)
		if err != nil || !bytes.Equal(whole.Key, letter.Key) {
			t.Errorf("%d bytes of a whole key of %d, error %v", len(whole.Key), n, err)
		}
	}
}

func counts(_ *testing.T, w *world) {
	want := ops.DeadLetterCounts{}
	check := func() {
		w.Helper()
		if got, err := w.engine.Store.CountDeadLetters(w.Context()); err != nil || got != want {
			w.Fatalf("counted %+v, error %v, want %+v", got, err, want)
		}
	}
	check()
	for i := range 6 {
		id := w.save(record()).ID
		want.Open++
		check()
		switch {
		case i < 3:
			w.mustRedrive(id)
			want.Open, want.Redriven = want.Open-1, want.Redriven+1
		case i < 5:
			_, err := w.rules.Discard(w.Context(), id, "a test order")
			w.must(err)
			want.Open, want.Discarded = want.Open-1, want.Discarded+1
		}
		check()
	}
}
