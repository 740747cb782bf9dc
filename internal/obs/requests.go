package obs

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kuhnya/internal/httpapi"
)

// requests are the HTTP requests.
type requests struct {
	total    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	replays  *prometheus.CounterVec
	refusals *prometheus.CounterVec
	inFlight prometheus.Gauge
}

func newRequests(register promauto.Factory) requests {
	labels := []string{"route", "method", "status"}
	return requests{
		total: register.NewCounterVec(prometheus.CounterOpts{
			Name: "kuhnya_http_requests_total", Help: "HTTP requests answered, streams included. Count.",
		}, labels),
		seconds: register.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kuhnya_http_request_seconds", Help: "How long HTTP requests took, streams left out. Seconds.", Buckets: seconds,
		}, labels),
		replays: register.NewCounterVec(prometheus.CounterOpts{
			Name: "kuhnya_http_replays_total", Help: "Answers to repeated requests (Idempotent-Replayed). Count.",
		}, []string{"route"}),
		refusals: register.NewCounterVec(prometheus.CounterOpts{
			Name: "kuhnya_http_refusals_total", Help: "Answers that were problem documents, by code. Count.",
		}, []string{"route", "code"}),
		inFlight: register.NewGauge(prometheus.GaugeOpts{
			Name: "kuhnya_http_requests_in_flight", Help: "HTTP requests being served now, open streams included. Count.",
		}),
	}
}

// InFlight counts the requests that are being served by a handler.
func (m *Metrics) InFlight(handler http.Handler) http.Handler {
	return promhttp.InstrumentHandlerInFlight(m.requests.inFlight, handler)
}

// Served counts a request that was answered.
func (m *Metrics) Served(s httpapi.Served) {
	if s.Route == "" {
		s.Route = "none"
	}
	labels := []string{s.Route, method(s.Method), status(s.Status)}
	m.requests.total.WithLabelValues(labels...).Inc()
	if !s.Stream {
		m.requests.seconds.WithLabelValues(labels...).Observe(s.Took.Seconds())
	}
	if s.Replayed {
		m.requests.replays.WithLabelValues(s.Route).Inc()
	}
	if s.Status >= http.StatusBadRequest && s.Code != "" {
		m.requests.refusals.WithLabelValues(s.Route, string(s.Code)).Inc()
	}
}

// method keeps clients from making series by methods of their own.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

func status(s int) string {
	if s == 0 {
		return "none" // the connection broke before there was one
	}
	return strconv.Itoa(s)
}
