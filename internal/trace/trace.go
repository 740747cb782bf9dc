// Package trace carries the W3C Trace Context of a request through rules that know nothing of HTTP or Kafka: as a
// traceparent, from the request to the rows, records and logs that it leads to.
package trace

import "context"

type parentKey struct{}

// WithParent returns a context whose work belongs to the trace of a traceparent.
func WithParent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, parentKey{}, traceparent)
}

// Parent returns the traceparent of ctx, "" if there is none.
func Parent(ctx context.Context) string {
	traceparent, _ := ctx.Value(parentKey{}).(string)
	return traceparent
}
