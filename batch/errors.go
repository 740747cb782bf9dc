package batch

import (
	"errors"
	"fmt"
)

var (
	// ErrQueueFull refuses a request because too many wait already. It was not admitted.
	ErrQueueFull = errors.New("batch: queue full")
	// ErrClosed refuses a request because the group is closed, or ends one that was not decided when closing ran out
	// of time. It was not committed.
	ErrClosed = errors.New("batch: closed")
	// ErrOutcomeUnknown fails requests whose commit got no answer and of which nothing could be learnt. They may have
	// been committed; only asking the store later tells.
	ErrOutcomeUnknown = errors.New("batch: outcome unknown")
	// ErrNotCommitted is returned by [Options.Resolve] when it is known that the commit did not happen. The batch then
	// fails with it and is not run again.
	ErrNotCommitted = errors.New("batch: not committed")
	// ErrPanic is wrapped by every [*PanicError].
	ErrPanic = errors.New("batch: panic")
)

// errMiscount is a programming error found after the commit: which outcome belongs to whom is not known.
var errMiscount = errors.New("batch: wrong number of outcomes")

// RunError is a failure of the run and no decision about the request: the store failed, stayed busy or in conflict, the
// group closed, the caller's context ended, or the outcome is unknown. It also goes to the later requests of a batch or
// of a DoAll call, which were not run because of it. Everything else that a request gets as its error is its own answer.
type RunError struct {
	Err error
}

func (e *RunError) Error() string { return "batch run: " + e.Err.Error() }

// Unwrap returns the cause, so that errors.Is and errors.As reach it.
func (e *RunError) Unwrap() error { return e.Err }

// PanicError is the answer to the request that made Apply panic. Its text leaves the stack out.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // of the goroutine that panicked, as debug.Stack formats it
}

func (e *PanicError) Error() string { return fmt.Sprintf("%v: %v", ErrPanic, e.Value) }

// Unwrap returns [ErrPanic], and the value too where it is an error.
func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}
