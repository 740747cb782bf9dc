package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// eventTime is how long one event may take to leave; a client that reads slower is dropped and comes back.
const eventTime = 5 * time.Second

// EventStream is the answer of an operation that sends events (text/event-stream) instead of a body.
type EventStream struct {
	Body func(huma.Context)
}

// Stream answers with the events that run writes. What can be refused must be refused before, by the handler. The
// context ends when the client goes or [API.CloseStreams] is called, not after [MaxTime]; run must return then.
func Stream(run func(ctx context.Context, w *EventWriter) error) *EventStream {
	return &EventStream{Body: func(hc huma.Context) {
		x := hc.Context().Value(exchangeKey{}).(exchange)
		ctx, cancel := context.WithCancel(hc.Context())
		defer cancel()
		defer context.AfterFunc(x.api.streams, cancel)()
		w := &EventWriter{writer: x.writer, control: http.NewResponseController(x.writer)}
		if w.open() != nil {
			return // the client has gone
		}
		if err := run(ctx, w); err != nil && ctx.Err() == nil && !errors.Is(err, errEventLost) {
			x.api.problem(ctx, err) // too late for the client; this logs it
		}
	}}
}

// EventWriter sends events. It must not be used concurrently.
type EventWriter struct {
	writer  http.ResponseWriter
	control *http.ResponseController
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
