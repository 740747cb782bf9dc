package httpapi

import (
	"context"
	"errors"
	"log/slog"

	"kuhnya/internal/fault"
)

var (
	errInternal    = fault.New(fault.Internal, "Something went wrong on our side. Please report the instance.")
	errUnavailable = fault.New(fault.Unavailable, "The service could not answer in time. Please send the request again.")
	errNotFound    = fault.New(fault.NotFound, "There is nothing here.")
	errMethod      = fault.New(fault.MethodNotAllowed, "This method is not allowed here; see the Allow header.")
)

// problem turns the error of a handler into what its client may know, and logs what it may not.
func (a *API) problem(ctx context.Context, err error) *Problem {
	p := newProblem(ctx, a.refusal(err))
	switch {
	case p.Code == fault.Internal:
		a.log(ctx, slog.LevelError, "request failed", slog.Any("error", err))
	case p.Status >= 500 && !errors.Is(err, context.Canceled):
		a.log(ctx, slog.LevelWarn, "request not served", slog.String("code", string(p.Code)), slog.Any("error", err))
	}
	return p
}

// refusal classifies an error: refused by a rule, not possible now, or not foreseen.
func (a *API) refusal(err error) *fault.Error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errUnavailable
	case a.config.Transient != nil && a.config.Transient(err):
		return errUnavailable
	default:
		return errInternal
	}
}
