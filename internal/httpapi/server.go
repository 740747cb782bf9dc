package httpapi

import (
	"net/http"
	"time"
)

const (
	maxHeaders = 16 << 10
	// headerSlop is what net/http adds to MaxHeaderBytes.
	headerSlop = 4 << 10
)

// NewServer returns a server with limits on what a client may send and how slowly: headers (with the request line) up
// to 16 KiB, else 431; five seconds for them, fifteen for the whole request. How long a client may read is limited by
// each answer, since an event stream never ends.
func NewServer(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    maxHeaders - headerSlop,
	}
}

// headersTooLarge makes the limit exact: on a connection in use, net/http lets through what it had read ahead.
func headersTooLarge(r *http.Request) bool {
	size := len(r.Method) + len(r.RequestURI) + len(r.Proto) + len("  \r\n") + len("Host: \r\n") + len(r.Host) + len("\r\n")
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(": \r\n") + len(value)
		}
	}
	return size > maxHeaders
}
