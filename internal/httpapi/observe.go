package httpapi

import (
	"strings"
	"time"

	"kuhnya/internal/fault"
)

// Served says how a request was answered, for whoever counts.
type Served struct {
	Method   string     // as the client wrote it, which may be anything
	Route    string     // the pattern of its path, "" if none matched
	Status   int        // 0 if the connection was broken before an answer
	Code     fault.Code // of the problem that was answered, "" for none
	Replayed bool
	Stream   bool          // an event stream: Took is how long its client stayed
	Took     time.Duration // until the handler was done
}

// Observe has every request told to f when it has been served. It is part of registering: call it before serving. f is
// called by many at once and must not block.
func (a *API) Observe(f func(Served)) { a.observer = f }

func (a *API) observe(w *response, took time.Duration) {
	if a.observer == nil {
		return
	}
	_, route, _ := strings.Cut(w.request.Pattern, " ")
	a.observer(Served{
		Method: w.request.Method, Route: route, Status: w.status, Code: accountOf(w.request.Context()).code,
		Replayed: replayed(w.Header()), Stream: w.Header().Get("Content-Type") == "text/event-stream", Took: took,
	})
}
