package consume

import (
	"fmt"
	"time"
)

// Partition names one partition of a topic.
type Partition struct {
	Topic string
	ID    int32
}

// String returns the usual short form, as in "orders/3".
func (p Partition) String() string { return fmt.Sprintf("%s/%d", p.Topic, p.ID) }

// Step names the part of a record's way that failed and is being tried again.
type Step string

// The steps in the order in which a record takes them.
const (
	StepHandle  Step = "handle"
	StepPublish Step = "publish_dead_letter"
	StepSave    Step = "save_dead_letter"
	StepCommit  Step = "commit"
)

// Events is a set of optional callbacks for metrics and tests. They run on the consumer's own goroutines, several at
// once: they must be quick and safe for concurrent use.
type Events struct {
	// Handled follows a handler call with this many records, whatever its results.
	Handled func(p Partition, records int, took time.Duration)
	// Skipped follows a record that was redriven for another group.
	Skipped func(p Partition, offset int64)
	// Unknown follows a record of a kind that the handler does not know ([ErrUnknown]).
	Unknown func(p Partition, offset int64)
	// Retried follows a failure that will be tried again.
	Retried func(p Partition, step Step, err error)
	// DeadLettered follows a dead letter that is both published and saved.
	DeadLettered func(d DeadLetter)
	// Committed follows a commit; next is the offset of the first record that is not settled.
	Committed func(p Partition, next int64)
	// PollFailed follows a poll that brought an error; polling goes on.
	PollFailed func(err error)
}

func (e *Events) fill() {
	if e.Handled == nil {
		e.Handled = func(Partition, int, time.Duration) {}
	}
	if e.Skipped == nil {
		e.Skipped = func(Partition, int64) {}
	}
	if e.Unknown == nil {
		e.Unknown = func(Partition, int64) {}
	}
	if e.Retried == nil {
		e.Retried = func(Partition, Step, error) {}
	}
	if e.DeadLettered == nil {
		e.DeadLettered = func(DeadLetter) {}
	}
	if e.Committed == nil {
		e.Committed = func(Partition, int64) {}
	}
	if e.PollFailed == nil {
		e.PollFailed = func(error) {}
	}
}
