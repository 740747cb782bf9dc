package httpapi

import (
	"net/http"
	"time"
)

// writeTime is how long a client may take to read an answer, from its first byte.
const writeTime = 30 * time.Second

// response holds the status line back until the first byte of the body, so that a body that can't be encoded, a panic or
// a plain-text 404 of the router can still become a problem document.
type response struct {
	http.ResponseWriter
	request *http.Request
	status  int // 0: not chosen yet
	started bool
}

// WriteHeader chooses the status; the first choice holds. Informational ones pass.
func (w *response) WriteHeader(status int) {
	switch {
	case 100 <= status && status < 200:
		w.ResponseWriter.WriteHeader(status)
	case w.status == 0:
		w.status = status
	}
}

func (w *response) Write(p []byte) (int, error) {
	if w.unrouted() {
		return len(p), nil
	}
	w.start()
	return w.ResponseWriter.Write(p)
}

// FlushError sends what there is; [http.ResponseController] looks for it.
func (w *response) FlushError() error {
	w.start()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets [http.ResponseController] reach deadlines.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) start() {
	if w.started {
		return
	}
	w.started = true
	if w.status == 0 {
		w.status = http.StatusOK
	}
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTime))
	w.ResponseWriter.WriteHeader(w.status)
}

// unrouted reports whether the router, not a handler, is answering: no pattern matched.
func (w *response) unrouted() bool {
	return w.request.Pattern == "" && (w.status == http.StatusNotFound || w.status == http.StatusMethodNotAllowed)
}
