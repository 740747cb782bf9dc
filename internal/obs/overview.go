package obs

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kuhnya/internal/event"
	"kuhnya/internal/ops"
)

// inspectTimeout bounds one look at a service. Prometheus gives a scrape ten seconds.
const inspectTimeout = 3 * time.Second

// overview shows what a look at a service finds.
type overview struct {
	service string
	inspect ops.Inspect
	shared  Shared[ops.Overview]
	failed  prometheus.Counter // looks that failed
	blind   prometheus.Counter // looks that learnt no lag

	rows, oldest, parked, deadLetters, lag *prometheus.Desc
	steps, stuck                           *prometheus.Desc // nil where the service has none
}

// Overview shows at scrape time what inspect finds.
func (s *Service) Overview(inspect ops.Inspect) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, s.own())
	}
	o := &overview{
		service: s.name, inspect: inspect, failed: s.scrapeErrors("overview"), blind: s.scrapeErrors("lag"),
		rows:        desc("kuhnya_outbox_rows", "Outbox rows that wait to be published. Count."),
		oldest:      desc("kuhnya_outbox_oldest_age_seconds", "How long the oldest outbox row has waited, 0 if none does. Seconds."),
		parked:      desc("kuhnya_outbox_parked_rows", "Outbox rows that could not be published and wait for a person. Count."),
		deadLetters: desc("kuhnya_dead_letters", "Dead letters kept, by state: open, redriven, discarded. Count.", "state"),
		lag: prometheus.NewDesc("kuhnya_consumer_lag_records", "Records that the group has not committed. Count.",
			[]string{"topic", "partition"}, prometheus.Labels{"group": s.name}),
	}
	switch s.name {
	case event.GroupEstablishment:
		o.steps = desc("kuhnya_unsent_steps", "Steps of tickets that kitchen has not been told of. Count.")
	case event.GroupKitchen:
		o.stuck = desc("kuhnya_stuck_orders", "Orders placed, not accepted, and past their deadline. Count.")
	}
	s.metrics.registry.MustRegister(o)
}

// Describe implements [prometheus.Collector].
func (o *overview) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{o.rows, o.oldest, o.parked, o.deadLetters, o.lag, o.steps, o.stuck} {
		if d != nil {
			descs <- d
		}
	}
}

// Collect implements [prometheus.Collector].
func (o *overview) Collect(metrics chan<- prometheus.Metric) {
	found, err := o.look()
	if err != nil {
		o.failed.Inc()
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(o.rows, float64(found.Outbox.Waiting))
	gauge(o.oldest, found.Outbox.OldestAge.Seconds())
	gauge(o.parked, float64(found.Outbox.Parked))
	gauge(o.deadLetters, float64(found.DeadLetters.Open), "open")
	gauge(o.deadLetters, float64(found.DeadLetters.Redriven), "redriven")
	gauge(o.deadLetters, float64(found.DeadLetters.Discarded), "discarded")
	if o.steps != nil {
		gauge(o.steps, float64(found.UnsentSteps))
	}
	if o.stuck != nil {
		gauge(o.stuck, float64(found.StuckOrders))
	}
	if found.ReadingError != "" {
		o.blind.Inc()
		return
	}
	for _, r := range found.Reading {
		gauge(o.lag, float64(r.Lag()), r.Topic, strconv.Itoa(int(r.Partition)))
	}
}

// look asks within its time, and together with every other scrape that asks now.
func (o *overview) look() (ops.Overview, error) {
	ctx, cancel := context.WithTimeout(context.Background(), inspectTimeout)
	defer cancel()
	return o.shared.Ask(ctx, func() (ops.Overview, error) {
		ctx, cancel := context.WithTimeout(context.Background(), inspectTimeout)
		defer cancel()
		return o.inspect(ctx)
	})
}
