package trace

import (
	"context"
	"log/slog"
)

// Logs returns a handler that adds to each line what its context carries, as request_id and trace_id. Lines that are
// written with a context therefore never name these themselves.
func Logs(next slog.Handler) slog.Handler { return logs{next} }

type logs struct{ slog.Handler }

// Handle implements [slog.Handler].
func (l logs) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	if id := ID(Parent(ctx)); id != "" {
		r.AddAttrs(slog.String("trace_id", id))
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (l logs) WithAttrs(attrs []slog.Attr) slog.Handler { return logs{l.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (l logs) WithGroup(name string) slog.Handler { return logs{l.Handler.WithGroup(name)} }
