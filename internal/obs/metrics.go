package obs

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// seconds are the buckets of durations, from what memory takes to the longest that a request may.
var seconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Metrics are those of one process, in a registry of their own. Make them with [New].
type Metrics struct {
	registry     *prometheus.Registry
	register     promauto.Factory
	requests     requests
	batches      batches
	relays       relays
	consumers    consumers
	scrapeErrors *prometheus.CounterVec
}

// New returns the metrics of a process that runs a version of the program.
func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector(),
	)
	register := promauto.With(registry)
	register.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kuhnya_build_info", Help: "The program that runs: always 1, its version and Go's are the labels.",
	}, []string{"version", "go_version"}).WithLabelValues(version, runtime.Version()).Set(1)
	return &Metrics{
		registry: registry, register: register,
		requests: newRequests(register), batches: newBatches(register), relays: newRelays(register), consumers: newConsumers(register),
		scrapeErrors: register.NewCounterVec(prometheus.CounterOpts{
			Name: "kuhnya_scrape_errors_total",
			Help: "Looks at scrape time that failed, by what could not be learnt: its gauges were left out. Count.",
		}, []string{"service", "part"}),
	}
}

// Service is one service of the process as it is measured.
type Service struct {
	metrics *Metrics
	name    string
}

// Service returns the service of a name.
func (m *Metrics) Service(name string) *Service { return &Service{metrics: m, name: name} }

func (s *Service) scrapeErrors(part string) prometheus.Counter {
	return s.metrics.scrapeErrors.WithLabelValues(s.name, part)
}

// own are the labels of a series that this service alone has.
func (s *Service) own() prometheus.Labels { return prometheus.Labels{"service": s.name} }
