package consume_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
)

// log is what handlers applied, in order.
type log struct {
	mu      sync.Mutex
	applied []string
}

func (l *log) add(r *kgo.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.applied = append(l.applied, string(r.Value))
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.applied)
}

func (l *log) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, l.all()); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
}

// each makes a handler out of a function for one record. It stops at the first transient error, as a handler that works
// record by record would.
func each(apply func(*kgo.Record) error) consume.Handler {
	return func(_ context.Context, records []*kgo.Record) []error {
		results := make([]error, len(records))
		for i, r := range records {
			results[i] = apply(r)
			if errors.Is(results[i], errTransient) {
				break
			}
		}
		return results
	}
}

// apply makes a handler that applies everything.
func apply(applied *log) consume.Handler {
	return each(func(r *kgo.Record) error { applied.add(r); return nil })
}

// strict applies a record unless it is cut off, as `{` is, or absent.
func (l *log) strict(r *kgo.Record) error {
	if !bytes.HasSuffix(r.Value, []byte("}")) {
		return errDomain
	}
	l.add(r)
	return nil
}

// failTimes fails on one value, the first n times.
func (l *log) failTimes(value string, n int32, err error) consume.Handler {
	var left atomic.Int32
	left.Store(n)
	return each(func(r *kgo.Record) error {
		if string(r.Value) == value && left.Add(-1) >= 0 {
			return err
		}
		l.add(r)
		return nil
	})
}
