package kitchen

import (
	"context"
	"log/slog"
	"strings"

	"kuhnya/batch"
	"kuhnya/internal/trace"
)

// logPlaced returns what tells the log of a command's outcome. Lines are written by those who wait for the decision,
// after the commit, so that they take no time from the next batch.
func (s *Service) logPlaced(ctx context.Context, p placing) func(batch.Outcome[Placed]) {
	return func(o batch.Outcome[Placed]) {
		if o.Err != nil || o.Value.Replayed {
			return
		}
		s.log.LogAttrs(trace.WithParent(ctx, p.Trace), slog.LevelInfo, "order placed",
			slog.Any("order_id", o.Value.Order.ID), slog.Any("establishment_id", p.EstablishmentID))
	}
}

// logChanged is logPlaced for a change. A reason is what a person wrote, and stays out.
func (s *Service) logChanged(ctx context.Context, c Change) func(batch.Outcome[Changed]) {
	return func(o batch.Outcome[Changed]) {
		if o.Err != nil {
			return
		}
		level, message := slog.LevelInfo, "order status changed"
		if o.Value.From == "" {
			level, message = slog.LevelDebug, "order status repeated"
		}
		kind, _, _ := strings.Cut(c.Actor, ":") // who it was is in the order's history
		s.log.LogAttrs(trace.WithParent(ctx, c.Trace), level, message, slog.Any("order_id", c.OrderID),
			slog.String("from", string(o.Value.From)), slog.String("to", string(c.To)), slog.String("actor_kind", kind))
	}
}
