package opsclient

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kuhnya/internal/ops/opshttp"
)

func failed(service string, partition int32, offset int64, second int) opshttp.DeadLetter {
	return opshttp.DeadLetter{
		Service: service, Topic: "t", Partition: partition, Offset: offset, FailedAt: time.Date(2026, 3, 1, 0, 0, second, 0, time.UTC),
	}
}

func TestInOriginalOrder(t *testing.T) {
	want := []opshttp.DeadLetter{
		failed("kitchen", 0, 7, 1), failed("establishment", 0, 1, 2), failed("kitchen", 1, 3, 3),
		failed("kitchen", 0, 8, 5), failed("kitchen", 0, 9, 4), // a clock that was put back
		failed("kitchen", 1, 4, 6), failed("kitchen", 0, 100, 6),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	want[5], want[6] = want[6], want[5] // at the same time: by partition
	InOriginalOrder(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInOriginalOrder_keeps_the_order_of_offsets in every partition, whatever the clocks said.
func TestInOriginalOrder_keeps_the_order_of_offsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOf(rapid.Custom(func(t *rapid.T) opshttp.DeadLetter {
			return failed(rapid.SampledFrom([]string{"kitchen", "bonus"}).Draw(t, "service"), rapid.Int32Range(0, 2).Draw(t, "partition"),
				rapid.Int64Range(0, 50).Draw(t, "offset"), rapid.IntRange(0, 9).Draw(t, "second"))
		})).Draw(t, "letters")
		before := len(letters)
		InOriginalOrder(letters)
		if len(letters) != before {
			t.Fatalf("%d letters of %d", len(letters), before)
		}
		for i, a := range letters {
			for _, b := range letters[i:] {
				if comparePartitions(a, b) == 0 && a.Offset > b.Offset {
					t.Fatalf("offset %d before %d", a.Offset, b.Offset)
				}
			}
		}
	})
}
