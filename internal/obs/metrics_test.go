package obs

import (
	"log/slog"
	"maps"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"kuhnya/batch"
	"kuhnya/consume"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

var goVersion = runtime.Version()

// scraped is what a scrape shows.
func scraped(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.server(slog.New(slog.DiscardHandler)).Handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("answer %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// gathered returns the series of ours that a scrape shows, without buckets: "name{label="value"}" and its value.
func gathered(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	series := map[string]float64{}
	for line := range strings.Lines(scraped(t, m)) {
		at := strings.LastIndexByte(line, ' ')
		name := line[:at]
		if !strings.HasPrefix(name, "kuhnya_") || strings.Contains(name, "_bucket{") {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		if err != nil {
			t.Fatal(err)
		}
		series[name] = value
	}
	return series
}

// wantShown compares the series whose names begin with a prefix, leaving out those that are 0.
func wantShown(t *testing.T, m *Metrics, prefix string, want map[string]float64) {
	t.Helper()
	got := maps.Clone(gathered(t, m))
	maps.DeleteFunc(got, func(name string, value float64) bool { return !strings.HasPrefix(name, prefix) || value == 0 })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s… (-want +got):\n%s", prefix, diff)
	}
}

func TestServed(t *testing.T) {
	m := New("v1")
	for _, s := range []httpapi.Served{
		{Method: "POST", Route: "/v1/orders", Status: 201, Took: time.Second},
		{Method: "POST", Route: "/v1/orders", Status: 200, Took: 2 * time.Second, Replayed: true},
		{Method: "POST", Route: "/v1/orders", Status: 409, Took: time.Second, Code: fault.OutOfStock},
		{Method: "GET", Route: "/v1/orders/{id}/stream", Status: 200, Took: time.Hour, Stream: true},
		{Method: "GET", Route: "/v1/orders/{id}/stream", Status: 200, Took: time.Hour, Stream: true, Code: fault.Internal}, // told too late
		{Method: "BREW", Status: 404, Took: time.Second, Code: fault.NotFound},
		{Method: "get", Status: 431, Took: time.Second},
		{Method: "GET", Route: "/", Took: time.Second}, // cut off
	} {
		m.Served(s)
	}
	wantShown(t, m, "kuhnya_http_requests_total", map[string]float64{
		`kuhnya_http_requests_total{method="POST",route="/v1/orders",status="201"}`:            1,
		`kuhnya_http_requests_total{method="POST",route="/v1/orders",status="200"}`:            1,
		`kuhnya_http_requests_total{method="POST",route="/v1/orders",status="409"}`:            1,
		`kuhnya_http_requests_total{method="GET",route="/v1/orders/{id}/stream",status="200"}`: 2,
		`kuhnya_http_requests_total{method="other",route="none",status="404"}`:                 1,
		`kuhnya_http_requests_total{method="other",route="none",status="431"}`:                 1,
		`kuhnya_http_requests_total{method="GET",route="/",status="none"}`:                     1,
	})
	took := gathered(t, m)
	maps.DeleteFunc(took, func(name string, _ float64) bool {
		return !strings.HasPrefix(name, "kuhnya_http_request_seconds") || !strings.Contains(name, `status="200"`)
	})
	if diff := cmp.Diff(map[string]float64{
		`kuhnya_http_request_seconds_count{method="POST",route="/v1/orders",status="200"}`: 1,
		`kuhnya_http_request_seconds_sum{method="POST",route="/v1/orders",status="200"}`:   2,
	}, took); diff != "" {
		t.Errorf("streams are measured as well, or what isn't one is not (-want +got):\n%s", diff)
	}
	wantShown(t, m, "kuhnya_http_replays_total", map[string]float64{`kuhnya_http_replays_total{route="/v1/orders"}`: 1})
	wantShown(t, m, "kuhnya_http_refusals_total", map[string]float64{
		`kuhnya_http_refusals_total{code="out_of_stock",route="/v1/orders"}`: 1,
		`kuhnya_http_refusals_total{code="not_found",route="none"}`:          1,
	})
}

func TestBatch(t *testing.T) {
	m := New("v1")
	m.Service("kitchen").Batch("placings", batch.Stats{Size: 3, Runs: 2, Duration: time.Second})
	m.Service("kitchen").Batch("placings", batch.Stats{Size: 4, Runs: 1, Duration: time.Second})
	m.Service("bonus").Batch("accruals", batch.Stats{Size: 1, Runs: 1, Duration: time.Second})
	wantShown(t, m, "kuhnya_batch_", map[string]float64{
		`kuhnya_batch_commands_count{group="placings",service="kitchen"}`: 2,
		`kuhnya_batch_commands_sum{group="placings",service="kitchen"}`:   7,
		`kuhnya_batch_runs_count{group="placings",service="kitchen"}`:     2,
		`kuhnya_batch_runs_sum{group="placings",service="kitchen"}`:       3,
		`kuhnya_batch_seconds_count{group="placings",service="kitchen"}`:  2,
		`kuhnya_batch_seconds_sum{group="placings",service="kitchen"}`:    2,
		`kuhnya_batch_commands_count{group="accruals",service="bonus"}`:   1,
		`kuhnya_batch_commands_sum{group="accruals",service="bonus"}`:     1,
		`kuhnya_batch_runs_count{group="accruals",service="bonus"}`:       1,
		`kuhnya_batch_runs_sum{group="accruals",service="bonus"}`:         1,
		`kuhnya_batch_seconds_count{group="accruals",service="bonus"}`:    1,
		`kuhnya_batch_seconds_sum{group="accruals",service="bonus"}`:      1,
	})
}

func TestRelay(t *testing.T) {
	m := New("v1")
	relay := m.Service("kitchen").Relay()
	wantSeries(t, m, `kuhnya_outbox_lease_held{service="kitchen"}`, 0)
	relay.Leased(true)
	relay.Published(5, 2, time.Second)
	relay.Published(0, 1, time.Second)
	wantShown(t, m, "kuhnya_outbox_", map[string]float64{
		`kuhnya_outbox_lease_held{service="kitchen"}`:            1,
		`kuhnya_outbox_published_rows_total{service="kitchen"}`:  5,
		`kuhnya_outbox_failed_rows_total{service="kitchen"}`:     3,
		`kuhnya_outbox_publish_seconds_count{service="kitchen"}`: 2,
		`kuhnya_outbox_publish_seconds_sum{service="kitchen"}`:   2,
	})
	relay.Leased(false)
	wantSeries(t, m, `kuhnya_outbox_lease_held{service="kitchen"}`, 0)
}

func wantSeries(t *testing.T, m *Metrics, name string, want float64) {
	t.Helper()
	if got, shown := gathered(t, m)[name]; !shown || got != want {
		t.Errorf("%s is %v, shown %v, want %v", name, got, shown, want)
	}
}

func TestConsumer(t *testing.T) {
	m := New("v1")
	tell := m.Service("kitchen").Consumer([]string{"statuses"})
	before := slices.Sorted(maps.Keys(gathered(t, m)))
	p := consume.Partition{Topic: "statuses", ID: 3}
	tell.Handled(p, 7, time.Second)
	tell.Skipped(p, 1)
	tell.Unknown(p, 2)
	tell.Unknown(p, 3)
	tell.Retried(p, consume.StepCommit, nil)
	tell.Committed(p, 9)
	tell.DeadLettered(consume.DeadLetter{Topic: "statuses", ErrorCode: consume.CodeInternal})
	tell.PollFailed(nil)
	const of = `{group="kitchen",topic="statuses"`
	wantShown(t, m, "kuhnya_consumer_", map[string]float64{
		`kuhnya_consumer_records_total` + of + `}`:                                                                    7,
		`kuhnya_consumer_handler_seconds_count` + of + `}`:                                                            1,
		`kuhnya_consumer_handler_seconds_sum` + of + `}`:                                                              1,
		`kuhnya_consumer_skipped_records_total{group="kitchen",reason="redriven_for_another_group",topic="statuses"}`: 1,
		`kuhnya_consumer_skipped_records_total{group="kitchen",reason="unknown_type",topic="statuses"}`:               2,
		`kuhnya_consumer_retries_total{group="kitchen",step="commit",topic="statuses"}`:                               1,
		`kuhnya_consumer_commits_total` + of + `}`:                                                                    1,
		`kuhnya_consumer_dead_letters_total{code="internal",group="kitchen",topic="statuses"}`:                        1,
		`kuhnya_consumer_poll_failures_total{group="kitchen"}`:                                                        1,
	})
	if after := slices.Sorted(maps.Keys(gathered(t, m))); !slices.Equal(before, after) {
		t.Errorf("series came to be only with their first event:\n%s", cmp.Diff(before, after))
	}
}

func TestBlockedSince_is_the_oldest_of_those_that_wait(t *testing.T) {
	at := func(second int) consume.PartitionState {
		return consume.PartitionState{BlockedSince: time.Unix(int64(second), 0)}
	}
	for _, c := range []struct {
		states []consume.PartitionState
		want   time.Time
	}{
		{nil, time.Time{}},
		{[]consume.PartitionState{{}, {}}, time.Time{}},
		{[]consume.PartitionState{{}, at(5), at(3), {}, at(4)}, time.Unix(3, 0)},
	} {
		if got := BlockedSince(c.states); !got.Equal(c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// all is a process with everything that it can show.
func all(t *testing.T) *Metrics {
	t.Helper()
	m := New("v1")
	m.Disk(t.TempDir())
	m.Broker(func() int { return 1 }, func() int64 { return 2 }, func() int64 { return 3 })
	for _, name := range []string{event.GroupKitchen, event.GroupEstablishment, "bonus"} {
		s := m.Service(name)
		s.Relay()
		s.Consumer([]string{"topic"})
		s.Claims(func() int { return 4 })
		s.Database(t.TempDir())
		s.Overview(fixed(overviewOf(name)))
	}
	m.Service(event.GroupKitchen).TimeOuts(func() int64 { return 5 })
	m.Service(event.GroupEstablishment).Presses(func() int64 { return 6 }, func() int64 { return 7 })
	return m
}

func TestMetrics_follow_the_conventions(t *testing.T) {
	text := scraped(t, all(t))
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "kuhnya_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	for line := range strings.Lines(text) {
		name, help, isHelp := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# HELP "), " ")
		if !isHelp || !strings.HasPrefix(line, "# HELP kuhnya_") || name == "kuhnya_build_info" || name == "kuhnya_outbox_lease_held" {
			continue
		}
		if !strings.HasSuffix(help, " Count.") && !strings.HasSuffix(help, " Seconds.") && !strings.HasSuffix(help, " Bytes.") {
			t.Errorf("%s does not say its unit: %s", name, help)
		}
	}
}

func TestParts(t *testing.T) {
	m := all(t)
	wantSeries(t, m, `kuhnya_claims_held{service="kitchen"}`, 4)
	wantSeries(t, m, `kuhnya_accept_timeouts_total{service="kitchen"}`, 5)
	wantSeries(t, m, `kuhnya_presses_untold_total{service="establishment"}`, 6)
	wantSeries(t, m, `kuhnya_steps_swept_total{service="establishment"}`, 7)
	wantSeries(t, m, "kuhnya_broker_clients", 1)
	wantSeries(t, m, "kuhnya_broker_disk_refusals_total", 2)
	wantSeries(t, m, "kuhnya_broker_cut_off_total", 3)
	if free := gathered(t, m)["kuhnya_disk_free_bytes"]; free <= 0 {
		t.Errorf("%v bytes free", free)
	}
}
