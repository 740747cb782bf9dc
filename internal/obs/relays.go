package obs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"kuhnya/outbox"
)

// relays are the relays of outboxes.
type relays struct {
	published, failed *prometheus.CounterVec
	seconds           *prometheus.HistogramVec
	held              *prometheus.GaugeVec
}

func newRelays(register promauto.Factory) relays {
	labels := []string{"service"}
	return relays{
		published: register.NewCounterVec(prometheus.CounterOpts{
			Name: "kuhnya_outbox_published_rows_total", Help: "Outbox rows that the broker acknowledged. Count.",
		}, labels),
		failed: register.NewCounterVec(prometheus.CounterOpts{
			Name: "kuhnya_outbox_failed_rows_total", Help: "Tries to publish an outbox row that failed and are made again. Count.",
		}, labels),
		seconds: register.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kuhnya_outbox_publish_seconds", Help: "How long the broker took for the rows of one batch. Seconds.", Buckets: seconds,
		}, labels),
		held: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kuhnya_outbox_lease_held", Help: "1 in the process whose relay publishes for the service's database, 0 in those that stand by.",
		}, labels),
	}
}

// Relay returns what watches the relay of the service's outbox.
func (s *Service) Relay() outbox.Observer {
	m := s.metrics.relays
	published, failed := m.published.WithLabelValues(s.name), m.failed.WithLabelValues(s.name)
	seconds, held := m.seconds.WithLabelValues(s.name), m.held.WithLabelValues(s.name)
	return outbox.Observer{
		Leased: func(has bool) { held.Set(truth(has)) },
		Published: func(acknowledged, refused int, took time.Duration) {
			published.Add(float64(acknowledged))
			failed.Add(float64(refused))
			seconds.Observe(took.Seconds())
		},
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
