package obs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kuhnya/internal/httpapi"
)

const (
	maxScrapes    = 4  // at once; each costs a look at every database
	maxScrapers   = 32 // connections
	scrapeTimeout = 10 * time.Second
	answerTimeout = 30 * time.Second
	closeTimeout  = 250 * time.Millisecond // for scrapes that run
)

// Server shows metrics on a port of its own: GET /metrics, and nothing else. A nil one shows nothing.
type Server struct {
	listener net.Listener
	server   *http.Server
}

// Listen takes the port for a server of m, which shows nothing before [Server.Serve]. Without an address there is none.
func Listen(addr string, m *Metrics, log *slog.Logger) (*Server, error) {
	if addr == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--metrics-addr %s: %w", addr, err)
	}
	return &Server{listener: httpapi.LimitConnections(listener, maxScrapers), server: m.server(log)}, nil
}

func (m *Metrics) server(log *slog.Logger) *http.Server {
	errorLog := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: errorLog, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, Timeout: scrapeTimeout,
	}))
	server := httpapi.NewServer("", mux)
	server.WriteTimeout, server.ErrorLog = answerTimeout, errorLog
	return server
}

// Serve shows the metrics until [Server.Close]; it returns an error only if it can't go on.
func (s *Server) Serve() error {
	if s == nil {
		return nil
	}
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics server: %w", err)
	}
	return nil
}

// URL is where the metrics are shown, "" if they aren't.
func (s *Server) URL() string {
	if s == nil {
		return ""
	}
	return "http://" + s.listener.Addr().String() + "/metrics"
}

// Close frees the port. Running scrapes get a moment to end, no longer than ctx.
func (s *Server) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if ctx.Err() != nil {
		err = s.server.Close()
	}
	return errors.Join(err, s.listener.Close()) // the server knows the listener only if it has served
}
