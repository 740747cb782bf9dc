package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/event"
)

func TestCopy(t *testing.T) {
	orders := topics.Orders()

	t.Run("has_what_was_acknowledged_before", func(t *testing.T) {
		dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "broker")
		r := open(t, dir)
		produce(t, r.Connection(), orders, 10)
		r.commit(event.GroupEstablishment, orders, 7)
		mustCopy(t, dir, copied)
		produce(t, r.Connection(), orders, 1)
		r.commit(event.GroupEstablishment, orders, 11)
		again := open(t, copied)
		again.wantBounds(orders, 0, 10)
		again.wantCommitted(event.GroupEstablishment, orders, 7)
	})

	t.Run("has_no_commit_without_its_records_while_both_go_on", func(t *testing.T) {
		const copies = 10
		dir, copied := t.TempDir(), t.TempDir()
		r := open(t, dir)
		done := make(chan error, 1)
		go func() {
			var err error
			for i := range copies {
				err = errors.Join(err, embedded.Copy(t.Context(), dir, filepath.Join(copied, strconv.Itoa(i))))
			}
			done <- err
		}()
		for n := int64(1); len(done) == 0; n++ {
			produce(t, r.Connection(), orders, 1)
			r.commit(reporting, orders, n)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		for i := range copies {
			wantCommitsWithin(t, filepath.Join(copied, strconv.Itoa(i)), reporting, orders)
		}
	})

	t.Run("refuses_a_folder_on_which_nothing_runs", func(t *testing.T) {
		dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "broker")
		for _, want := range []error{embedded.ErrAbsent, embedded.ErrIdle} {
			if err := embedded.Copy(t.Context(), dir, copied); !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
			open(t, dir).stop()
		}
		if _, err := os.Stat(copied); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a copy has come to be: %v", err)
		}
	})

	t.Run("ends_with_its_context", func(t *testing.T) {
		dir := t.TempDir()
		open(t, dir)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := embedded.Copy(ctx, dir, filepath.Join(t.TempDir(), "broker")); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func mustCopy(t *testing.T, from, to string) {
	t.Helper()
	if err := embedded.Copy(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
}

// wantCommitsWithin fails the test if a group has committed more of a topic than there is. It opens the folder only to
// look: else such a commit would be put back.
func wantCommitsWithin(t *testing.T, dir, group, topic string) {
	t.Helper()
	r := open(t, dir, func(o *embedded.Options) { o.Existing = true })
	committed, err := r.Committed(t.Context(), group, topic)
	if err != nil {
		t.Fatal(err)
	}
	_, ends, err := r.Bounds(t.Context(), topic)
	if err != nil || committed[0] > ends[0] {
		t.Errorf("committed %d of %d records, %v", committed[0], ends[0], err)
	}
	r.stop()
}
