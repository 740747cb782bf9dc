package consume

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestQueue(t *testing.T) {
	records := func(n, bytes int) []*kgo.Record {
		all := make([]*kgo.Record, n)
		for i := range all {
			all[i] = &kgo.Record{Value: make([]byte, bytes)}
		}
		return all
	}
	paused := false
	open := func() *queue {
		paused = false
		return newQueue(func() { paused = true }, func() { paused = false })
	}
	expect := func(t *testing.T, want bool) {
		t.Helper()
		if paused != want {
			t.Errorf("paused = %v, want %v", paused, want)
		}
	}

	t.Run("pauses_when_full_and_resumes_at_half", func(t *testing.T) {
		q := open()
		q.push(records(queueRecords-1, 0))
		expect(t, false)
		q.push(records(1, 0))
		expect(t, true)
		q.pop(queueRecords/2 - 1)
		expect(t, true)
		q.pop(1)
		expect(t, false)
	})
	t.Run("counts_bytes", func(t *testing.T) {
		q := open()
		q.push(records(4, queueBytes/4))
		expect(t, true)
		q.pop(2)
		expect(t, false)
	})
	t.Run("leaves_no_pause_behind", func(t *testing.T) {
		q := open()
		q.push(records(queueRecords, 0))
		q.close()
		expect(t, false)
		if len(q.pop(1)) != 0 {
			t.Error("a closed queue has records")
		}
	})
}
