package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"kuhnya/internal/fault"
)

// About is implemented by inputs, mostly by way of what they embed, that name the thing which the request is about: its
// attribute is on every line that this package logs about the request.
type About interface {
	LogAttr() slog.Attr
}

// Annotate adds an attribute to what this package logs about the request of ctx, for what only the handler learns. It is
// for the handler's own goroutine.
func Annotate(ctx context.Context, attr slog.Attr) {
	a := accountOf(ctx)
	a.attrs = append(a.attrs, attr)
}

type accountKey struct{}

// account is what the log says of a request beside the request itself.
type account struct {
	attrs []slog.Attr
	code  fault.Code // of the problem that was answered
}

// accountOf returns the account of a request, or, outside of [API.Handler], one that nobody reads.
func accountOf(ctx context.Context) *account {
	if a, ok := ctx.Value(accountKey{}).(*account); ok {
		return a
	}
	return &account{}
}

// log writes a line about the request of ctx. Its id and trace are not named here: the logger knows them from ctx.
func (a *API) log(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	a.config.Logger.LogAttrs(ctx, level, message, append(attrs, accountOf(ctx).attrs...)...)
}

// logAccess says how a request was answered. What its client wrote, but for the id of a thing, is not in it.
func (a *API) logAccess(w *response, took time.Duration) {
	ctx := w.request.Context()
	attrs := []slog.Attr{
		slog.String("method", w.request.Method), slog.String("route", w.request.Pattern),
		slog.Int("status", w.status), slog.Duration("duration", took),
	}
	if code := accountOf(ctx).code; code != "" {
		attrs = append(attrs, slog.String("code", string(code)))
	}
	if replayed(w.Header()) {
		attrs = append(attrs, slog.Bool("replayed", true))
	}
	a.log(ctx, slog.LevelDebug, "request served", attrs...)
}

func replayed(h http.Header) bool { return h.Get("Idempotent-Replayed") != "" }
