package consume

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// burialTimeout bounds one try to publish or to save a dead letter.
const burialTimeout = 10 * time.Second

// bury makes a record a dead letter: published and acknowledged, then saved. Each step is tried until it succeeds, and
// none again once it has. It fails only when the worker is to stop; then the offset stays and the record comes again.
func (w *worker) bury(r *kgo.Record, d DeadLetter) error {
	err := w.insist(StepPublish, r, func(ctx context.Context) error { return w.consumer.deadLetters.publish(ctx, d) })
	if err != nil {
		return err
	}
	err = w.insist(StepSave, r, func(ctx context.Context) error { return w.consumer.options.DeadLetters.Save(ctx, d) })
	if err != nil {
		return err
	}
	w.logRecord(slog.LevelWarn, "dead letter", r, slog.String("code", d.ErrorCode), slog.Int("attempts", d.Attempts),
		slog.String("error", d.ErrorMessage))
	w.consumer.options.Events.DeadLettered(d)
	return nil
}

func (w *worker) insist(step Step, r *kgo.Record, try func(context.Context) error) error {
	retry := w.backoff()
	for {
		ctx, cancel := context.WithTimeout(w.work, burialTimeout)
		err := try(ctx)
		cancel()
		if err == nil || w.stop.Err() != nil {
			return err
		}
		w.retried(step, r, err)
		if !w.hold(retry) {
			return err
		}
	}
}
