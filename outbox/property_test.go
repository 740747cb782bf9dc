package outbox_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kuhnya/outbox"
	"kuhnya/outbox/outboxtest"
)

// TestRelayProperty lets two relays work on one table while rows are appended, transactions commit out of order, the
// broker refuses, loses answers and goes away, and relays are frozen and killed. Whatever happens: every row is
// published, the first publications of a key are in order, and no row leaves the table that wasn't acknowledged.
func TestRelayProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 40).Draw(rt, "steps")
		var faults []string
		synctest.Test(t, func(t *testing.T) { faults = runWorld(t.Context(), seed, steps) })
		if len(faults) > 0 {
			rt.Fatalf("%q", faults)
		}
	})
}

type step struct {
	Do    string
	Key   int // also: which relay
	Count int
	Wait  time.Duration
}

func drawStep(t *rapid.T) step {
	return step{
		Do:    rapid.SampledFrom([]string{"append", "append", "append", "poison", "begin", "commit", "fail", "away", "heal", "freeze", "thaw", "kill", "lose"}).Draw(t, "do"),
		Key:   rapid.IntRange(0, 4).Draw(t, "key"),
		Count: rapid.IntRange(1, 7).Draw(t, "count"),
		Wait:  time.Duration(rapid.IntRange(0, 5000).Draw(t, "wait")) * time.Millisecond,
	}
}

// TestCheckFindsFaults makes sure that the property can fail.
func TestCheckFindsFaults(t *testing.T) {
	row := func(id int64) outbox.Row { return outbox.Row{Message: msg("k", "good"), ID: id} }
	w := &world{ctx: t.Context(), table: outboxtest.NewMemory(), log: []outbox.Row{row(2), row(1)}}
	w.note(w.table.Append(t.Context(), msg("k", "good")))
	w.check()
	want := []string{"1 rows were left in the table", "key k was published in the order [2 1]"}
	if diff := cmp.Diff(want, w.faults); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
