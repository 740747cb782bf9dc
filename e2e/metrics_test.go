package e2e

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMetrics(t *testing.T) {
	keep(t,
		promise{"the handbook lists what a process shows and nothing else", metricsAreDocumented},
		promise{"what was done is counted where it belongs", metricsCount},
		promise{"without a broker the lag is left out and the rest is shown", metricsWithoutBroker},
		promise{"a lone broker shows its own", metricsOfBroker},
		promise{"a port in use is refused before anything is written", metricsPort},
	)
}

// family is a metric as it is shown, or described.
type family struct {
	name, kind string
	labels     []string // names, in order
}

// scrape is what a process shows: its own families, and the value of every series "name{label="value",…}".
type scrape struct {
	families []family
	values   map[string]float64
}

var (
	typeLine   = regexp.MustCompile(`^# TYPE (\S+) (\S+)$`)
	sampleLine = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)
	labelName  = regexp.MustCompile(`([a-z_]+)="(?:[^"\\]|\\.)*"`)
)

func (p *process) shows(t testing.TB) scrape {
	t.Helper()
	request, err := http.NewRequest("GET", p.metrics, nil)
	if err != nil {
		t.Fatal(err)
	}
	body := string(fetch(request).want(t, 200).body)
	s := scrape{values: map[string]float64{}}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if m := typeLine.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[1], "kuhnya_") {
			s.families = append(s.families, family{name: m[1], kind: m[2]})
		} else if m := sampleLine.FindStringSubmatch(line); m != nil {
			s.add(t, m[1], m[2], m[3])
		}
	}
	return s
}

// add takes a sample; those of a family follow the line with its type.
func (s *scrape) add(t testing.TB, name, labels, text string) {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	series := name
	if labels != "" {
		series += "{" + labels + "}"
	}
	s.values[series] = value
	if !strings.HasPrefix(name, "kuhnya_") {
		return
	}
	of := &s.families[len(s.families)-1]
	for _, m := range labelName.FindAllStringSubmatch(labels, -1) {
		if m[1] != "le" && !slices.Contains(of.labels, m[1]) {
			of.labels = append(of.labels, m[1])
		}
	}
	slices.Sort(of.labels)
}

var metricRow = regexp.MustCompile("(?m)^\\| `(kuhnya_[a-z_]+)` \\| ([a-z]+) \\| ([^|]*)\\| ([^|]+)\\|")

// documented are the metrics of the handbook.
func documentedFamilies(t *testing.T) (families []family) {
	t.Helper()
	text, err := os.ReadFile("../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range metricRow.FindAllStringSubmatch(string(text), -1) {
		labels := strings.FieldsFunc(row[3], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		families = append(families, family{name: row[1], kind: row[2], labels: labels})
	}
	return families
}

// measured is a venue whose process shows metrics.
func measured(t *testing.T) *venue {
	t.Helper()
	return openVenue(t, soloSite(t, "--metrics-addr", "127.0.0.1:0", "--kafka-addr", "127.0.0.1:0"), counted("pelmeni", 100))
}

// traffic is one of everything that makes a series appear: an order, its replay, a refusal, a press.
func (v *venue) traffic(t *testing.T) (id string) {
	t.Helper()
	key := newKey()
	id = into[order](t, v.alice.place(t, key, v.portions(0, 1)).want(t, 201)).ID
	v.alice.place(t, key, v.portions(0, 1)).want(t, 200)
	v.alice.place(t, newKey(), v.portions(0, 100)).wantProblem(t, 409, "out_of_stock")
	v.awaitTicket(t, id)
	for _, action := range []string{"accept", "start", "ready", "complete"} {
		v.cook.press(t, id, action).want(t, 200)
	}
	v.awaitOrder(t, id, "completed")
	v.robot.send(t, "POST", "/v1/bonuses", map[string]any{
		"user_id": v.alice.subject, "campaign_id": newKey(), "order_id": id, "points": 1,
	}).wantProblem(t, 400, "invalid_request")
	return id
}

func metricsAreDocumented(t *testing.T) {
	v := measured(t)
	v.traffic(t)
	var now scrape
	eventually(t, "a batch of each group", func() bool {
		now = v.kitchen.shows(t)
		groups := 0
		for series := range now.values {
			if strings.HasPrefix(series, "kuhnya_batch_runs_count{") {
				groups++
			}
		}
		return groups == 7
	})
	slices.SortFunc(now.families, func(a, b family) int { return cmp.Compare(a.name, b.name) })
	if diff := gocmp.Diff(documentedFamilies(t), now.families, gocmp.AllowUnexported(family{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("docs/OPERATIONS.md differs from what is shown (-documented +shown):\n%s", diff)
	}
}

func metricsCount(t *testing.T) {
	v := measured(t)
	before := v.kitchen.shows(t)
	v.traffic(t)
	bus := v.bus(t)
	bus.send(t, poison(statusesTopic, newKey()))
	bus.send(t, poison(statusesTopic, newKey(), withHeader("ce_type", "weather.changed.v1")))
	bus.settle(t, "kitchen", statusesTopic)
	const status = `group="kitchen",topic="kuhnya.establishment-statuses"`
	want := map[string]float64{
		`kuhnya_http_requests_total{method="POST",route="/v1/orders",status="201"}`:                                          1,
		`kuhnya_http_requests_total{method="POST",route="/v1/orders",status="200"}`:                                          1,
		`kuhnya_http_request_seconds_count{method="POST",route="/v1/orders",status="409"}`:                                   1,
		`kuhnya_http_replays_total{route="/v1/orders"}`:                                                                      1,
		`kuhnya_http_refusals_total{code="out_of_stock",route="/v1/orders"}`:                                                 1,
		`kuhnya_batch_commands_sum{group="placings",service="kitchen"}`:                                                      3,
		`kuhnya_batch_commands_sum{group="pressings",service="establishment"}`:                                               4,
		`kuhnya_outbox_published_rows_total{service="kitchen"}`:                                                              5,
		`kuhnya_consumer_records_total{group="establishment",topic="kuhnya.orders"}`:                                         5,
		`kuhnya_consumer_records_total{` + status + `}`:                                                                      6,
		`kuhnya_consumer_dead_letters_total{code="invalid_request",` + status + `}`:                                          1,
		`kuhnya_dead_letters{service="kitchen",state="open"}`:                                                                1,
		`kuhnya_consumer_skipped_records_total{group="kitchen",reason="unknown_type",topic="kuhnya.establishment-statuses"}`: 1,
	}
	var got map[string]float64
	eventually(t, "everything is counted", func() bool {
		now := v.kitchen.shows(t)
		got = map[string]float64{}
		for series := range want {
			got[series] = now.values[series] - before.values[series]
		}
		return maps.Equal(got, want) || t.Failed()
	})
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	now := v.kitchen.shows(t).values
	for series, least := range map[string]float64{
		"kuhnya_disk_free_bytes": 1, `kuhnya_database_bytes{service="bonus"}`: 4096, "process_open_fds": 3, "go_goroutines": 10,
		`kuhnya_outbox_lease_held{service="kitchen"}`: 1,
	} {
		if now[series] < least {
			t.Errorf("%s is %v", series, now[series])
		}
	}
}

func metricsWithoutBroker(t *testing.T) {
	v, id := newOutage(t, "--metrics-addr", "127.0.0.1:0", "--republish-after", "100ms")
	v.wantUnpublished(t, id, "accept", "accepted")
	v.placed(t, v.portions(0, 1))
	eventually(t, "the lag is left out", func() bool {
		now := v.kitchen.shows(t).values
		for series := range now {
			if strings.HasPrefix(series, "kuhnya_consumer_lag_records") {
				return false
			}
		}
		return now[`kuhnya_scrape_errors_total{part="lag",service="kitchen"}`] > 0 &&
			now[`kuhnya_outbox_rows{service="kitchen"}`] == 1 && now[`kuhnya_unsent_steps{service="establishment"}`] == 1 &&
			now[`kuhnya_presses_untold_total{service="establishment"}`] == 1 && now[`kuhnya_consumer_away_seconds{group="kitchen"}`] > 0
	})
	v.broker.restart(t)
	v.awaitOrder(t, id, "accepted")
	eventually(t, "the sweep is counted", func() bool {
		now := v.kitchen.shows(t).values
		lag, told := now[`kuhnya_consumer_lag_records{group="kitchen",partition="0",topic="kuhnya.establishment-statuses"}`]
		return now[`kuhnya_steps_swept_total{service="establishment"}`] >= 1 && told && lag == 0 &&
			now[`kuhnya_unsent_steps{service="establishment"}`] == 0 && now[`kuhnya_consumer_away_seconds{group="kitchen"}`] == 0
	})
}

func metricsOfBroker(t *testing.T) {
	p := start(t, "broker", "--data", t.TempDir(), "--kafka-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0")
	if p.kafka == "" {
		t.Fatal("the ready line names no broker")
	}
	conn, err := net.Dial("tcp", p.kafka)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	eventually(t, "the client is counted", func() bool { return p.shows(t).values["kuhnya_broker_clients"] == 1 })
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the client is cut off", func() bool { return p.shows(t).values["kuhnya_broker_cut_off_total"] == 1 })
	var names []string
	for _, f := range p.shows(t).families {
		names = append(names, f.name)
	}
	slices.Sort(names)
	want := []string{
		"kuhnya_broker_clients", "kuhnya_broker_cut_off_total", "kuhnya_broker_disk_refusals_total", "kuhnya_build_info",
		"kuhnya_disk_free_bytes", "kuhnya_http_requests_in_flight", "kuhnya_scrape_errors_total",
	}
	if diff := gocmp.Diff(want, names); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

func metricsPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, addr := range []string{listener.Addr().String(), "127.0.0.1", "nowhere.invalid:1"} {
		for _, args := range [][]string{{"up", "--addr", "127.0.0.1:0"}, {"broker", "--kafka-addr", "127.0.0.1:0"}} {
			data := absent(t)
			r := command(t, append(args, "--data", data, "--metrics-addr", addr)...)
			wantRefused(t, r)
			wantNothingWritten(t, data)
			if !strings.Contains(r.stderr, "--metrics-addr "+addr) {
				t.Errorf("stderr doesn't name %s: %s", addr, r.stderr)
			}
		}
	}
}
