package bonus

import (
	"context"
	"log/slog"

	"kuhnya/batch"
	"kuhnya/internal/trace"
)

// logAccrued returns what tells the log of a command's outcome. Lines are written by those who wait for the decision,
// after the commit, so that they take no time from the next batch. Who got the points is in the ledger.
func (s *Service) logAccrued(ctx context.Context, c accruing) func(batch.Outcome[Accrued]) {
	return func(o batch.Outcome[Accrued]) {
		if o.Err != nil || o.Value.Repeat {
			return
		}
		s.log.LogAttrs(trace.WithParent(ctx, c.Trace), slog.LevelInfo, "bonus accrued", slog.Any("order_id", c.OrderID),
			slog.Any("campaign_id", c.CampaignID), slog.Int64("points", c.Points))
	}
}

// logEvaluated is logAccrued for a completed order: what it earned by all campaigns together.
func (s *Service) logEvaluated(ctx context.Context, order Completed, o batch.Outcome[evaluated]) {
	if o.Err != nil {
		return
	}
	level, message := slog.LevelInfo, "order evaluated"
	if !o.Value.here {
		level, message = slog.LevelDebug, "order evaluated before"
	}
	s.log.LogAttrs(trace.WithParent(ctx, order.Trace), level, message, slog.Any("order_id", order.OrderID),
		slog.Int64("points", o.Value.points))
}
