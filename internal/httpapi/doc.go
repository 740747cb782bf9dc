// Package httpapi is the border between HTTP and the services: every endpoint is registered here, and nothing reaches a
// service that was not authenticated, admitted by role and read strictly.
//
// [Register] takes an [Operation] that states access, codes and key handling, and the Go types of input and output; the
// route, its checks and its OpenAPI entry come from that one value and can't drift apart. The order of checks is fixed:
// authentication, role, media type and size, syntax of the idempotency key, shape, then the handler.
//
// Guarantee: JSON is read so strictly that two readers can't disagree about it (unknown, repeated or wrongly cased
// members, null, trailing data, invalid UTF-8 are refused), every refusal is a problem document (RFC 9457) of one table
// of kinds, and neither an input value nor the text of an internal error is ever sent back.
//
// Each request has an id (X-Request-Id of its answer, instance of a problem) and is a span of the trace that its
// traceparent header names, or of a new one. Both are in the handler's context and, by way of the logger, in every line
// that is written with it. An invalid traceparent is an absent one, and none is sent back.
//
// Failure model: a panic is a 500 and a log line, or a broken connection if the answer had begun. A change runs on for
// its own ten seconds though its client has gone; after that, as for anything transient, the answer is 503. What
// net/http refuses before any handler (a malformed request line, headers over 16 KiB) is plain text.
//
// What this package does not do: it decides no business rule, stores nothing, limits no rates and serves no pages.
package httpapi
