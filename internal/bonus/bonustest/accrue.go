package bonustest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func replaysByteForByte(t *testing.T, w *world) {
	cmd := w.command("alice", 100, "k")
	first := w.mustAccrue(cmd)
	if first.Status != 201 || first.Repeat {
		t.Errorf("first answer: %+v", first)
	}
	first.Repeat = true
	for range 3 {
		if diff := cmp.Diff(first, w.mustAccrue(cmd)); diff != "" {
			t.Errorf("replay (-first +again):\n%s", diff)
		}
	}
	w.mustHave("alice", 100)
}
