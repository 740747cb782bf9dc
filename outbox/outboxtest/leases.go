package outboxtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kuhnya/outbox"
)

func refusesHeld(t *testing.T, f Fixture) {
	lease := f.acquire(t, "a", long)
	for _, owner := range []string{"b", "a"} {
		if _, ok, err := f.Store.Acquire(t.Context(), owner, long); ok || err != nil {
			t.Errorf("acquire for %s while a holds: ok %v, error %v", owner, ok, err)
		}
	}
	must(t, f.Store.Renew(t.Context(), lease, long))
}

// passesExpired uses a time to live that is over at once, so that the database's clock needn't be waited for.
func passesExpired(t *testing.T, f Fixture) {
	a := f.acquire(t, "a", 0)
	b := f.acquire(t, "b", long)
	if b.Epoch <= a.Epoch {
		t.Errorf("epoch %d after %d: it must grow with each change of hands", b.Epoch, a.Epoch)
	}
	must(t, f.Store.Renew(t.Context(), b, -1))
	if again := f.acquire(t, "b", long); again.Epoch <= b.Epoch {
		t.Errorf("epoch %d after %d: it must grow even if the owner takes its own lease again", again.Epoch, b.Epoch)
	}
}

func passesReleased(t *testing.T, f Fixture) {
	f.append(t, message("k", "0"))
	a := f.acquire(t, "a", long)
	must(t, f.Store.Release(t.Context(), a))
	f.wantLost(t, "released", a)
	b := f.acquire(t, "b", long)
	if b.Epoch <= a.Epoch {
		t.Errorf("epoch %d after %d: it must grow with each change of hands", b.Epoch, a.Epoch)
	}
	f.wantLost(t, "released and passed on", a)
}

func oneWinner(t *testing.T, f Fixture) {
	const rivals = 16
	for range 3 {
		leases := make(chan outbox.Lease, rivals)
		var race sync.WaitGroup
		start := make(chan struct{})
		for i := range rivals {
			race.Go(func() {
				<-start
				lease, ok, err := f.Store.Acquire(t.Context(), fmt.Sprint("rival ", i), long)
				if err != nil {
					t.Errorf("rival %d: %v", i, err)
				}
				if ok {
					leases <- lease
				}
			})
		}
		close(start)
		race.Wait()
		if len(leases) != 1 {
			t.Fatalf("%d rivals hold the lease, want 1", len(leases))
		}
		must(t, f.Store.Release(t.Context(), <-leases))
	}
}

func refusesStale(t *testing.T, f Fixture) {
	f.append(t, message("k", "0"))
	stale := f.acquire(t, "a", 0)
	fresh := f.acquire(t, "a", long) // same name: only the epoch tells them apart
	f.wantLost(t, "stale", stale)
	must(t, f.Store.Renew(t.Context(), fresh, long))
	must(t, f.Store.Delete(t.Context(), fresh, ids(f.pending(t, 0, 10))))
}

func refusesForeign(t *testing.T, f Fixture) {
	f.append(t, message("k", "0"))
	lease := f.acquire(t, "a", long)
	f.wantLost(t, "foreign", outbox.Lease{Owner: "b", Epoch: lease.Epoch})
	f.wantLost(t, "future", outbox.Lease{Owner: "a", Epoch: lease.Epoch + 1})
	f.wantLost(t, "zero", outbox.Lease{})
}

func ignoresStaleRelease(t *testing.T, f Fixture) {
	stale := f.acquire(t, "a", 0)
	held := f.acquire(t, "a", long)
	must(t, f.Store.Release(t.Context(), stale))
	if _, ok, err := f.Store.Acquire(t.Context(), "b", long); ok || err != nil {
		t.Errorf("acquire after a stale release: ok %v, error %v; the lease is held", ok, err)
	}
	must(t, f.Store.Renew(t.Context(), held, long))
}

// wantLost checks that nothing can be done under lease, and that nothing is done.
func (f Fixture) wantLost(t *testing.T, what string, lease outbox.Lease) {
	t.Helper()
	before, id := f.payloads(t), f.pending(t, 0, 1)[0].ID
	for op, err := range map[string]error{
		"delete": f.Store.Delete(t.Context(), lease, []int64{id}),
		"park":   f.Store.Park(t.Context(), lease, id, "no"),
		"renew":  f.Store.Renew(t.Context(), lease, long),
	} {
		if !errors.Is(err, outbox.ErrLeaseLost) {
			t.Errorf("%s under a %s lease: error %v, want ErrLeaseLost", op, what, err)
		}
	}
	if diff := cmp.Diff(before, f.payloads(t)); diff != "" {
		t.Errorf("rows changed under a %s lease (-before +after):\n%s", what, diff)
	}
	if d := f.depth(t); d.Parked != 0 {
		t.Errorf("%d rows parked under a %s lease", d.Parked, what)
	}
}

// servesRelay runs the real relay over the store: a few keys, several batches, and one row that can't be sent.
func servesRelay(t *testing.T, f Fixture) {
	want := make(map[string][]string)
	for i := range 30 {
		key := fmt.Sprint("k", i%3)
		f.append(t, message(key, fmt.Sprint(i)))
		want[key] = append(want[key], fmt.Sprint(i))
	}
	f.append(t, message("bad", "bad"))
	broker := make(collector)
	relay := outbox.NewRelay(outbox.RelayOptions{Store: f.Store, Publisher: broker, Batch: 7})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	patience, enough := context.WithTimeout(t.Context(), time.Minute)
	defer enough()
	must(t, relay.Idle(patience))
	stop()
	must(t, <-ended)

	if diff := cmp.Diff(map[string][]string(broker), want); diff != "" {
		t.Errorf("published by key (-got +want):\n%s", diff)
	}
	if d := f.depth(t); d != (outbox.Depth{Parked: 1}) {
		t.Errorf("depth %+v, want one parked row and nothing else", d)
	}
	f.acquire(t, "next", long) // the lease was released
}

// collector acknowledges all but the key "bad", and keeps the payloads by key. The relay calls it one call at a time.
type collector map[string][]string

func (c collector) Publish(_ context.Context, rows []outbox.Row) []error {
	errs := make([]error, len(rows))
	for i, row := range rows {
		if row.Key == "bad" {
			errs[i] = outbox.ErrUnpublishable
			continue
		}
		c[row.Key] = append(c[row.Key], string(row.Payload))
	}
	return errs
}
