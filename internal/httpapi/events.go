package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"kuhnya/internal/fault"
)

const (
	// DefaultMaxStreams is how many event streams a process keeps open at once.
	DefaultMaxStreams = 10_000

	// eventTime is how long one event may take to leave; a client that reads slower is dropped and comes back.
	eventTime = 5 * time.Second
)

var errStreams = fault.New(fault.Unavailable, "Too many event streams are open. Please come back later.")

// EventStream is the answer of an operation that sends events (text/event-stream) instead of a body.
type EventStream struct {
	Body func(huma.Context)
}

// Stream answers with the events that run writes. What can be refused must be refused before, by the handler; only when
// too many streams are open already is the answer a 503 without a call of run. The context ends when the client goes or
// [API.CloseStreams] is called, not after [MaxTime]; run must return then.
func Stream(run func(ctx context.Context, w *EventWriter) error) *EventStream {
	return &EventStream{Body: func(hc huma.Context) {
		x := hc.Context().Value(exchangeKey{}).(exchange)
		if hc.Method() == http.MethodHead {
			_ = newEventWriter(x.writer).open() // nobody waits for events
			return
		}
		select {
		case x.api.streaming <- struct{}{}:
			defer func() { <-x.api.streaming }()
			x.stream(hc, run)
		default:
			x.api.problem(hc.Context(), errStreams).write(x.writer)
		}
	}}
}

// StreamEnded answers that there is nothing to stream any more: 204, after which a browser's EventSource does not come
// back. The operation must have it among its statuses of success.
func StreamEnded() *EventStream {
	return &EventStream{Body: func(hc huma.Context) { hc.SetStatus(http.StatusNoContent) }}
}

func (x exchange) stream(hc huma.Context, run func(context.Context, *EventWriter) error) {
	ctx, cancel := context.WithCancel(hc.Context())
	defer cancel()
	defer context.AfterFunc(x.api.streams, cancel)()
	w := newEventWriter(x.writer)
	if w.open() != nil {
		return // the client has gone
	}
	if err := run(ctx, w); err != nil && ctx.Err() == nil && !errors.Is(err, errEventLost) {
		x.api.problem(ctx, err) // too late for the client; this logs it
	}
}

// EventWriter sends events. It must not be used concurrently.
type EventWriter struct {
	writer  http.ResponseWriter
	control *http.ResponseController
}

func newEventWriter(w http.ResponseWriter) *EventWriter {
	return &EventWriter{writer: w, control: http.NewResponseController(w)}
}

var errEventLost = errors.New("event not sent")

// Send sends one event with data as JSON. An empty id or name is left out.
func (e *EventWriter) Send(id, name string, data any) error {
	if strings.ContainsAny(id+name, "\r\n\x00") {
		return errors.New("send event: line break in id or name")
	}
	encoded, err := Encode(data)
	if err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	var b strings.Builder
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: ")
	b.Write(encoded) // JSON has no raw line break in it
	b.WriteString("\n\n")
	return e.send(b.String())
}

// Heartbeat sends a comment, which keeps proxies from closing a quiet stream and finds out whether the client is there.
func (e *EventWriter) Heartbeat() error { return e.send(":\n\n") }

func (e *EventWriter) open() error {
	h := e.writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would collect events
	e.writer.WriteHeader(http.StatusOK)
	return e.send("")
}

func (e *EventWriter) send(frame string) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(eventTime)) // a recorder in a test has no deadlines
	_, err := e.writer.Write([]byte(frame))
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errEventLost, err)
	}
	return nil
}
