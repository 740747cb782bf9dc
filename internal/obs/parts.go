package obs

import (
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"kuhnya/internal/disk"
)

// Claims shows how many keys the service is deciding about.
func (s *Service) Claims(held func() int) {
	s.metrics.gauge("kuhnya_claims_held", "Idempotency keys whose first request is being decided in this process. Count.", s.own(), held)
}

// TimeOuts shows how many orders nobody accepted in time.
func (s *Service) TimeOuts(n func() int64) {
	s.metrics.count("kuhnya_accept_timeouts_total", "Orders that this process rejected because nobody accepted them in time. Count.", s.own(), n)
}

// Presses shows how many presses ended in publish_failed, and how many steps the sweep has sent since.
func (s *Service) Presses(untold, swept func() int64) {
	s.metrics.count("kuhnya_presses_untold_total",
		"Presses that were stored, but could not be told to kitchen at once (publish_failed). Count.", s.own(), untold)
	s.metrics.count("kuhnya_steps_swept_total", "Steps of tickets that the sweep sent because no press did. Count.", s.own(), swept)
}

// Database shows the size of the service's database.
func (s *Service) Database(path string) {
	s.metrics.measure("kuhnya_database_bytes", "Size of the SQLite database with its write-ahead log. Bytes.", s.own(),
		s.scrapeErrors("database_size"), func() (int64, error) { return databaseSize(path) })
}

// databaseSize takes a log that isn't there for one without content: SQLite removes it when it closes the database.
func databaseSize(path string) (int64, error) {
	file, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	size := file.Size()
	if log, err := os.Stat(path + "-wal"); err == nil {
		size += log.Size()
	}
	return size, nil
}

// Disk shows how much room a folder's file system has.
func (m *Metrics) Disk(folder string) {
	m.measure("kuhnya_disk_free_bytes", "What this process may still write to the file system of the data folder. Bytes.", nil,
		m.scrapeErrors.WithLabelValues("process", "disk"), func() (int64, error) { return disk.Free(folder) })
}

// Broker shows the embedded broker: clients on its port, requests refused for want of disk space, connections cut off for
// what they sent.
func (m *Metrics) Broker(clients func() int, refused, cutOff func() int64) {
	m.gauge("kuhnya_broker_clients", "Connections to the embedded broker's port. Count.", nil, clients)
	m.count("kuhnya_broker_disk_refusals_total", "Requests that the embedded broker refused because the disk is almost full. Count.", nil, refused)
	m.count("kuhnya_broker_cut_off_total", "Connections that the embedded broker cut off for what they sent, or beyond its limit. Count.", nil, cutOff)
}

func (m *Metrics) gauge(name, help string, labels prometheus.Labels, value func() int) {
	m.register.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(value()) })
}

func (m *Metrics) count(name, help string, labels prometheus.Labels, n func() int64) {
	m.register.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(n()) })
}

// measured is a gauge that is left out when it can't be read.
type measured struct {
	desc   *prometheus.Desc
	read   func() (int64, error)
	failed prometheus.Counter
}

func (m *Metrics) measure(name, help string, labels prometheus.Labels, failed prometheus.Counter, read func() (int64, error)) {
	m.registry.MustRegister(measured{prometheus.NewDesc(name, help, nil, labels), read, failed})
}

// Describe implements [prometheus.Collector].
func (m measured) Describe(descs chan<- *prometheus.Desc) { descs <- m.desc }

// Collect implements [prometheus.Collector].
func (m measured) Collect(metrics chan<- prometheus.Metric) {
	value, err := m.read()
	if err != nil {
		m.failed.Inc()
		return
	}
	metrics <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(value))
}
