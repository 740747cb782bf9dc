// Package trace carries what ties together all that one request leads to through rules that know nothing of HTTP or
// Kafka: its W3C Trace Context, as a traceparent, and the id of the request, from the request to the rows, records and
// log lines that come of it.
//
// A traceparent names a trace and one span of it, the piece of work that hands it on. Whoever is handed one works in a
// [Child] of it: the trace stays the same, the span is another. Guarantee: what leaves this package is a traceparent of
// version 00, whatever came in.
//
// What this package does not do: it measures and exports no spans, and knows no tracestate.
package trace

import "context"

type (
	parentKey  struct{}
	requestKey struct{}
)

// WithParent returns a context whose work belongs to the trace of a traceparent.
func WithParent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, parentKey{}, traceparent)
}

// Parent returns the traceparent of ctx, "" if there is none.
func Parent(ctx context.Context) string {
	traceparent, _ := ctx.Value(parentKey{}).(string)
	return traceparent
}

// WithRequestID returns a context whose work is done for a request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestID returns the id of the request that ctx belongs to, "" if there is none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}
