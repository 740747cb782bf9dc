package obs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"kuhnya/consume"
)

// Why a record was passed over.
const (
	forAnotherGroup = "redriven_for_another_group"
	unknownType     = "unknown_type"
)

// consumers are the members of groups.
type consumers struct {
	records, skipped, retries, deadLetters, commits, pollFailures *prometheus.CounterVec
	seconds                                                       *prometheus.HistogramVec
}

func newConsumers(register promauto.Factory) consumers {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"group"}, labels...))
	}
	return consumers{
		records: counter("kuhnya_consumer_records_total", "Records handed to the handler, again after a failure. Count.", "topic"),
		skipped: counter("kuhnya_consumer_skipped_records_total",
			"Records passed over: of a type that nobody here knows, or redriven for another group. Count.", "topic", "reason"),
		retries: counter("kuhnya_consumer_retries_total",
			"Failures on a record's way that are tried again, by step: handle, publish_dead_letter, save_dead_letter, commit. Count.",
			"topic", "step"),
		deadLetters: counter("kuhnya_consumer_dead_letters_total", "Records given up and kept as dead letters, by code. Count.", "topic", "code"),
		commits:     counter("kuhnya_consumer_commits_total", "Commits of a partition's offset. Count.", "topic"),
		pollFailures: counter("kuhnya_consumer_poll_failures_total",
			"Polls that brought an error; there are many while a broker is away. Count."),
		seconds: register.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kuhnya_consumer_handler_seconds", Help: "How long one call of the handler took, for a poll's records. Seconds.", Buckets: seconds,
		}, []string{"group", "topic"}),
	}
}

// Consumer returns what watches the service's consumer of these topics.
func (s *Service) Consumer(topics []string) consume.Events {
	m, group := s.metrics.consumers, s.name
	m.begin(group, topics)
	return consume.Events{
		Handled: func(p consume.Partition, records int, took time.Duration) {
			m.records.WithLabelValues(group, p.Topic).Add(float64(records))
			m.seconds.WithLabelValues(group, p.Topic).Observe(took.Seconds())
		},
		Skipped: func(p consume.Partition, _ int64) { m.skipped.WithLabelValues(group, p.Topic, forAnotherGroup).Inc() },
		Unknown: func(p consume.Partition, _ int64) { m.skipped.WithLabelValues(group, p.Topic, unknownType).Inc() },
		Retried: func(p consume.Partition, step consume.Step, _ error) {
			m.retries.WithLabelValues(group, p.Topic, string(step)).Inc()
		},
		DeadLettered: func(d consume.DeadLetter) { m.deadLetters.WithLabelValues(group, d.Topic, d.ErrorCode).Inc() },
		Committed:    func(p consume.Partition, _ int64) { m.commits.WithLabelValues(group, p.Topic).Inc() },
		PollFailed:   func(error) { m.pollFailures.WithLabelValues(group).Inc() },
	}
}

// begin makes the series that are known beforehand: a rate can't be taken of a counter that appears with its first event.
func (m consumers) begin(group string, topics []string) {
	m.pollFailures.WithLabelValues(group)
	for _, topic := range topics {
		m.records.WithLabelValues(group, topic)
		m.commits.WithLabelValues(group, topic)
		m.seconds.WithLabelValues(group, topic)
		m.deadLetters.WithLabelValues(group, topic, consume.CodeInternal)
		for _, reason := range []string{forAnotherGroup, unknownType} {
			m.skipped.WithLabelValues(group, topic, reason)
		}
		for _, step := range []consume.Step{consume.StepHandle, consume.StepPublish, consume.StepSave, consume.StepCommit} {
			m.retries.WithLabelValues(group, topic, string(step))
		}
	}
}

// Membership shows whether the service's consumer moves.
func (s *Service) Membership(c *consume.Consumer) {
	gauge := func(name, help string, since func() time.Time) {
		s.metrics.register.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name, Help: help, ConstLabels: prometheus.Labels{"group": s.name},
		}, func() float64 { return age(since()) })
	}
	gauge("kuhnya_consumer_blocked_seconds", "Since when the partition that waits longest waits for a record that fails; 0 if all move. Seconds.",
		func() time.Time { return BlockedSince(c.State()) })
	gauge("kuhnya_consumer_away_seconds", "Since when the consumer has no place in its group, so that it reads nothing; 0 if it has. Seconds.",
		c.AwaySince)
}

// BlockedSince is since when the partition that waits longest waits, or zero if all of them move.
func BlockedSince(states []consume.PartitionState) (oldest time.Time) {
	for _, p := range states {
		if !p.BlockedSince.IsZero() && (oldest.IsZero() || p.BlockedSince.Before(oldest)) {
			oldest = p.BlockedSince
		}
	}
	return oldest
}

func age(since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return time.Since(since).Seconds()
}
