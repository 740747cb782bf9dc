package consume

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// brokenCall is the failure of a whole handler call: it says nothing about any single record of several.
type brokenCall struct{ reason string }

func (b *brokenCall) Error() string { return b.reason }

// call hands over the records that are meant for this group and returns a result for each record of the batch.
func (w *worker) call(batch []*kgo.Record) ([]error, error) {
	own := slices.DeleteFunc(slices.Clone(batch), w.isForeign)
	var results []error
	if len(own) > 0 {
		var err error
		if results, err = w.handle(own); err != nil {
			return nil, err
		}
	}
	if len(own) == len(batch) {
		return results, nil
	}
	return w.withForeign(batch, results), nil
}

// handle calls the handler, turning a panic and a result of the wrong length into an error.
func (w *worker) handle(records []*kgo.Record) (results []error, err error) {
	n, begin := len(records), time.Now()
	defer func() {
		if v := recover(); v != nil {
			w.log.Error("handler panicked", "panic", v, "stack", string(debug.Stack()))
			err = &brokenCall{fmt.Sprintf("handler panicked: %v", v)}
		}
		w.consumer.options.Events.Handled(w.partition, n, time.Since(begin))
	}()
	results = w.consumer.options.Handler(w.work, records)
	if len(results) != n {
		return nil, &brokenCall{fmt.Sprintf("handler returned %d results for %d records", len(results), n)}
	}
	return results, nil
}

// isForeign says that a record was redriven for another group: this one has settled it already.
func (w *worker) isForeign(r *kgo.Record) bool {
	group, ok := RedrivenFor(r.Headers)
	return ok && group != w.consumer.options.Group
}

// withForeign puts the success of passed-over records between the results of the others.
func (w *worker) withForeign(batch []*kgo.Record, results []error) []error {
	all := make([]error, 0, len(batch))
	for _, r := range batch {
		if w.isForeign(r) {
			all = append(all, nil)
			w.consumer.options.Events.Skipped(w.partition, r.Offset)
			continue
		}
		all = append(all, results[0])
		results = results[1:]
	}
	return all
}
