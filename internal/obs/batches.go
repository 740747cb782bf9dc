package obs

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"kuhnya/batch"
)

// batches are the transactions that commands share.
type batches struct{ commands, seconds, runs *prometheus.HistogramVec }

func newBatches(register promauto.Factory) batches {
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return register.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"service", "group"})
	}
	return batches{
		commands: histogram("kuhnya_batch_commands", "Commands that were decided together. Count.", []float64{1, 2, 4, 8, 16, 32, 64, 128}),
		seconds:  histogram("kuhnya_batch_seconds", "From taking a batch to its decision. Seconds.", seconds),
		runs: histogram("kuhnya_batch_runs", "Transactions that one batch took; more than 1 after conflicts. Count.",
			[]float64{1, 2, 3, 5, 10, 30, 130}),
	}
}

// Batch counts a batch of one of the service's groups.
func (s *Service) Batch(group string, b batch.Stats) {
	m := s.metrics.batches
	m.commands.WithLabelValues(s.name, group).Observe(float64(b.Size))
	m.seconds.WithLabelValues(s.name, group).Observe(b.Duration.Seconds())
	m.runs.WithLabelValues(s.name, group).Observe(float64(b.Runs))
}
