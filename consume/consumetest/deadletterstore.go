package consumetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"kuhnya/consume"
)

// Store is a dead-letter store that can be read back. Where the product lists dead letters otherwise, a test adapts it.
type Store interface {
	consume.DeadLetterStore
	// List returns all dead letters, in any order.
	List(ctx context.Context) ([]consume.DeadLetter, error)
}

// DeadLetterStore is the suite for implementations of [consume.DeadLetterStore]. open returns an empty store; it is
// called once per subtest.
func DeadLetterStore(t *testing.T, open func(t *testing.T) Store) {
	for name, test := range map[string]func(*testing.T, Store){
		"keeps_a_record_whole":                       keepsWhole,
		"tells_nil_from_empty":                       tellsNilFromEmpty,
		"keeps_any_bytes":                            keepsAnyBytes,
		"keeps_large_values":                         keepsLarge,
		"keeps_the_first_of_equal_identity":          keepsFirst,
		"tells_identities_apart":                     tellsApart,
		"keeps_one_row_of_parallel_saves":            keepsOneOfParallel,
		"keeps_all_rows_of_parallel_different_saves": keepsAllOfParallel,
		"claims_nothing_under_an_ended_context":      claimsNothingWhenEnded,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func letter(offset int64) consume.DeadLetter {
	return consume.DeadLetter{
		Group: "kitchen", Topic: "kuhnya.orders", Partition: 3, Offset: offset,
		Key: []byte("0199f3a0-0000-7000-8000-000000000001"), Value: []byte(`{"order_id":`),
		Headers: []consume.Header{
			{Key: "ce_type", Value: []byte("order.placed.v1")},
			{Key: "twice", Value: []byte("1")},
			{Key: "twice", Value: []byte("2")},
		},
		ErrorCode: "invalid_request", ErrorMessage: "decode: неожиданный конец", Attempts: 2,
		FailedAt: time.Date(2026, 3, 31, 23, 59, 59, 123456000, time.UTC), RedriveCount: 4,
	}
}

func keepsWhole(t *testing.T, store Store) {
	largest := letter(math.MaxInt64)
	largest.Partition = math.MaxInt32
	saveAll(t, store, letter(0), largest)
	expect(t, store, letter(0), largest)
}

func tellsNilFromEmpty(t *testing.T, store Store) {
	absent, empty := letter(1), letter(2)
	absent.Key, absent.Value, absent.Headers = nil, nil, []consume.Header{{Key: "h", Value: nil}}
	empty.Key, empty.Value, empty.Headers = []byte{}, []byte{}, []consume.Header{{Key: "", Value: []byte{}}}
	bare := letter(3)
	bare.Headers = nil
	saveAll(t, store, absent, empty, bare)
	expect(t, store, absent, empty, bare)
}

func keepsAnyBytes(t *testing.T, store Store) {
	var saved []consume.DeadLetter
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	header := rapid.Custom(func(t *rapid.T) consume.Header {
		return consume.Header{Key: text.Draw(t, "name"), Value: maybeBytes(t, "header")}
	})
	rapid.Check(t, func(r *rapid.T) {
		d := letter(int64(len(saved)))
		d.Key, d.Value = maybeBytes(r, "key"), maybeBytes(r, "value")
		d.Headers = rapid.SliceOfN(header, 0, 4).Draw(r, "headers")
		if err := store.Save(t.Context(), d); err != nil {
			r.Fatalf("save: %v", err)
		}
		saved = append(saved, d)
	})
	expect(t, store, saved...)
}

func maybeBytes(t *rapid.T, label string) []byte {
	if rapid.Bool().Draw(t, label+" is nil") {
		return nil
	}
	return rapid.SliceOf(rapid.Byte()).Draw(t, label)
}

func keepsLarge(t *testing.T, store Store) {
	d := letter(1)
	d.Value = make([]byte, 4<<20)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(d.Value) // never fails
	saveAll(t, store, d)
	expect(t, store, d)
}

func keepsFirst(t *testing.T, store Store) {
	first, again := letter(1), letter(1)
	again.Value, again.ErrorCode, again.Attempts = []byte("other"), "not_found", 9
	saveAll(t, store, first, again, first)
	expect(t, store, first)
}

func tellsApart(t *testing.T, store Store) {
	letters := []consume.DeadLetter{letter(1), letter(2), letter(1), letter(1), letter(1), letter(1)}
	letters[2].Partition = 4
	letters[3].Topic = "kuhnya.bonuses"
	letters[4].Group = "bonus"
	letters[5].Group, letters[5].Topic = "kitchenkuhnya", ".orders" // runs together to the same text
	saveAll(t, store, letters...)
	expect(t, store, letters...)
}

func keepsOneOfParallel(t *testing.T, store Store) {
	saveInParallel(t, store, func(int) consume.DeadLetter { return letter(7) })
	expect(t, store, letter(7))
}

func keepsAllOfParallel(t *testing.T, store Store) {
	saveInParallel(t, store, func(i int) consume.DeadLetter { return letter(int64(i)) })
	var want []consume.DeadLetter
	for i := range parallel {
		want = append(want, letter(int64(i)))
	}
	expect(t, store, want...)
}

func claimsNothingWhenEnded(t *testing.T, store Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := store.Save(ctx, letter(1))
	rows := list(t, store)
	if err == nil && len(rows) == 0 {
		t.Error("Save under an ended context claims success, but nothing is saved")
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Logf("Save under an ended context: %v", err)
	}
}

// parallel is how many callers save at once.
const parallel = 16

func saveInParallel(t *testing.T, store Store, make func(i int) consume.DeadLetter) {
	t.Helper()
	var all sync.WaitGroup
	failures := [parallel]error{}
	for i := range parallel {
		all.Go(func() { failures[i] = store.Save(t.Context(), make(i)) })
	}
	all.Wait()
	for i, err := range failures {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
}

func saveAll(t *testing.T, store Store, letters ...consume.DeadLetter) {
	t.Helper()
	for _, d := range letters {
		if err := store.Save(t.Context(), d); err != nil {
			t.Fatalf("save %v: %v", identity(d), err)
		}
	}
}

func list(t *testing.T, store Store) []consume.DeadLetter {
	t.Helper()
	rows, err := store.List(t.Context())
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	return rows
}

func expect(t *testing.T, store Store, want ...consume.DeadLetter) {
	t.Helper()
	byIdentity := func(a, b consume.DeadLetter) bool {
		return fmt.Sprint(identity(a)) < fmt.Sprint(identity(b))
	}
	noHeaders := cmp.FilterValues(func(a, b []consume.Header) bool { return len(a)+len(b) == 0 }, cmp.Ignore())
	equalBytes := cmp.FilterValues(func(a, b []byte) bool { // large values, byte by byte, take cmp half a minute
		return bytes.Equal(a, b) && (a == nil) == (b == nil)
	}, cmp.Ignore())
	diff := cmp.Diff(want, list(t, store), cmpopts.SortSlices(byIdentity), noHeaders, equalBytes)
	if diff != "" {
		t.Errorf("dead letters (-saved +listed):\n%s", diff)
	}
}
