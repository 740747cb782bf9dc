package broker

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// answers collects what became of the records of one call. Answers are matched by record, never by position: they come
// partition by partition. One that comes after the call returned changes nothing any more.
type answers struct {
	records []*kgo.Record
	done    chan struct{} // closed with the last answer

	mu      sync.Mutex
	settled map[*kgo.Record]error
}

func newAnswers(records []*kgo.Record) *answers {
	return &answers{
		records: records,
		done:    make(chan struct{}),
		settled: make(map[*kgo.Record]error, len(records)),
	}
}

func (a *answers) settle(r *kgo.Record, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled[r] = err
	if len(a.settled) == len(a.records) {
		close(a.done)
	}
}

// errors returns the answers in the order of the records; one that never came is unanswered.
func (a *answers) errors(unanswered error) []error {
	a.mu.Lock()
	defer a.mu.Unlock()
	errs := make([]error, len(a.records))
	for i, r := range a.records {
		err, ok := a.settled[r]
		if !ok {
			err = unanswered
		}
		errs[i] = err
	}
	return errs
}
