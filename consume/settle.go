package consume

import (
	"errors"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
)

// unclassifiedTries is how often a record may fail in a way that nobody foresaw before it is a dead letter.
const unclassifiedTries = 5

// trial counts the failures of the one record that the partition stands at.
type trial struct {
	offset       int64
	attempts     int // all failures
	unclassified int
}

// settle works a batch off in order. It returns when all of it is settled, or when the worker is to stop.
func (w *worker) settle(batch []*kgo.Record) {
	retry := w.backoff()
	for {
		n, err := w.pass(batch)
		batch = batch[n:]
		if len(batch) == 0 {
			return
		}
		if n > 0 {
			retry.Reset()
		}
		if w.stop.Err() != nil {
			return
		}
		w.retried(StepHandle, batch[0], err)
		if !w.hold(retry) {
			return
		}
	}
}

// pass hands the batch over once and settles the results up to the first that must be tried again. It returns how many
// it settled, and why not more.
func (w *worker) pass(batch []*kgo.Record) (int, error) {
	results, err := w.call(batch)
	if err != nil && len(batch) > 1 {
		return w.passOneByOne(batch)
	}
	if err != nil {
		results = []error{err}
	}
	for i, err := range results {
		switch {
		case err == nil:
			w.logRecord(slog.LevelDebug, "record settled", batch[i])
		case errors.Is(err, ErrUnknown):
			w.consumer.options.Events.Unknown(w.partition, batch[i].Offset)
		default:
			if again := w.refuse(batch[i], err); again != nil {
				return i, again
			}
		}
		w.progress.settled(batch[i])
	}
	return len(batch), nil
}

// passOneByOne finds the record that breaks a call, and keeps its neighbours from harm.
func (w *worker) passOneByOne(batch []*kgo.Record) (int, error) {
	for i := range batch {
		if w.stop.Err() != nil {
			return i, w.stop.Err()
		}
		if n, err := w.pass(batch[i : i+1]); n == 0 {
			return i, err
		}
	}
	return len(batch), nil
}

// refuse decides about a record that failed. It returns nil once the record is safely a dead letter, else the reason
// why it must be tried again.
func (w *worker) refuse(r *kgo.Record, err error) error {
	if w.work.Err() != nil {
		return err // the call was cut short: its errors say nothing about the record
	}
	if w.trial.offset != r.Offset {
		w.trial = trial{offset: r.Offset}
	}
	w.trial.attempts++
	class, code := w.judge(err)
	if class == Unclassified {
		w.trial.unclassified++
	}
	if class == Transient || class == Unclassified && w.trial.unclassified < unclassifiedTries {
		return err
	}
	return w.bury(r, newDeadLetter(w.consumer.options.Group, r, code, err, w.trial.attempts))
}

func (w *worker) judge(err error) (Class, string) {
	var broken *brokenCall
	if errors.As(err, &broken) {
		return Unclassified, CodeInternal
	}
	class, code := w.consumer.options.Classify(err)
	if class == Unclassified || code == "" {
		code = CodeInternal
	}
	return class, code
}
