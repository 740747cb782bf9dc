package establishment

import (
	"context"
	"log/slog"

	"kuhnya/batch"
	"kuhnya/internal/trace"
)

// logAdvanced returns what tells the log of a press's outcome. Lines are written by those who wait for the decision,
// after the commit, so that they take no time from the next batch. That a step could not be sent is the answer to its
// press, and told by whoever gives it. A reason is what a person wrote, and stays out.
func (s *Service) logAdvanced(ctx context.Context, p pressing) func(batch.Outcome[pressed]) {
	return func(o batch.Outcome[pressed]) {
		if o.Err != nil {
			return
		}
		level, message := slog.LevelInfo, "ticket advanced"
		if o.Value.from == "" {
			level, message = slog.LevelDebug, "press repeated"
		}
		s.log.LogAttrs(trace.WithParent(ctx, p.Trace), level, message, slog.Any("order_id", p.OrderID),
			slog.String("from", string(o.Value.from)), slog.String("to", string(p.target)))
	}
}

// logSwept tells the log of steps that the sweep has sent, each in the trace of its press.
func (s *Service) logSwept(ctx context.Context, steps []Step) {
	for _, step := range steps {
		s.log.LogAttrs(trace.WithParent(ctx, step.Trace), slog.LevelInfo, "step swept", slog.Any("order_id", step.OrderID),
			slog.String("status", string(step.Status)))
	}
}
