package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/fault"
	"kuhnya/internal/trace"
)

// RequestID returns the id that the API gave to a request: X-Request-Id of the answer, instance of a problem.
func RequestID(ctx context.Context) string { return trace.RequestID(ctx) }

// Handler returns the API as a handler: request id, trace, access log, panic recovery, and the router.
func (a *API) Handler() http.Handler { return http.HandlerFunc(a.serve) }

func (a *API) serve(w http.ResponseWriter, outer *http.Request) {
	began := time.Now()
	id := uuid.Must(uuid.NewV7()).String()
	r := outer.WithContext(begin(outer, id))
	res := &response{ResponseWriter: w, request: r}
	defer func() {
		outer.Pattern = r.Pattern // for whoever measures around this handler
		took := time.Since(began)
		a.logAccess(res, took)
		a.observe(res, took)
	}()
	defer a.rescue(res)
	setCommonHeaders(w.Header(), id)
	if headersTooLarge(r) {
		http.Error(res, "431 Request Header Fields Too Large", http.StatusRequestHeaderFieldsTooLarge)
		return
	}
	a.mux.ServeHTTP(res, r)
	res.finish()
}

// begin returns the context in which a request is served, as a span of its own: in the trace that its client began, or
// in a new one.
func begin(r *http.Request, id string) context.Context {
	ctx := trace.WithRequestID(r.Context(), id)
	ctx = trace.WithParent(ctx, trace.Child(traceparent(r.Header)))
	return context.WithValue(ctx, accountKey{}, &account{})
}

// traceparent returns what stands in the only line of that header. Of several nobody can tell which is meant.
func traceparent(h http.Header) string {
	if lines := h["Traceparent"]; len(lines) == 1 {
		return lines[0]
	}
	return ""
}

func setCommonHeaders(h http.Header, id string) {
	h.Set("X-Request-Id", id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// finish answers for the router, or sends the header of an answer without a body.
func (w *response) finish() {
	if !w.unrouted() {
		w.start()
		return
	}
	refusal := errNotFound
	if w.status == http.StatusMethodNotAllowed {
		refusal = errMethod
	}
	w.replace(refusal)
}

// replace answers with a refusal instead of what was prepared; only the methods that a 405 must name are kept.
func (w *response) replace(refusal *fault.Error) {
	h := w.Header()
	allow := h["Allow"]
	clear(h)
	if allow != nil {
		h["Allow"] = allow
	}
	setCommonHeaders(h, RequestID(w.request.Context()))
	p := newProblem(w.request.Context(), refusal)
	p.setHeaders(h)
	w.status = p.Status
	w.start()
	_ = encodeTo(w.ResponseWriter, p)
}

// rescue turns a panic into a 500, or, if the answer has begun, into a broken connection: a client must not take half
// an answer for a whole one.
func (a *API) rescue(w *response) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	ctx := w.request.Context()
	a.log(ctx, slog.LevelError, "handler panicked", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	if w.started {
		panic(http.ErrAbortHandler)
	}
	w.replace(errInternal)
}
