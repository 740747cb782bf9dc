package obs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kuhnya/internal/ops"
)

func overviewOf(service string) ops.Overview {
	return ops.Overview{
		Service: service, Outbox: ops.OutboxDepth{Waiting: 1, OldestAge: 1500 * time.Millisecond, Parked: 2}, UnsentSteps: 3, StuckOrders: 4,
		Reading:     []ops.Reading{{Topic: "t", Partition: 0, End: 9, Committed: 4}, {Topic: "t", Partition: 1, End: 4, Committed: 9}},
		DeadLetters: ops.DeadLetterCounts{Open: 6, Redriven: 7, Discarded: 8},
	}
}

func fixed(o ops.Overview) ops.Inspect {
	return func(context.Context) (ops.Overview, error) { return o, nil }
}

func TestOverview(t *testing.T) {
	shown := func(service string, more map[string]float64) map[string]float64 {
		all := map[string]float64{
			`kuhnya_outbox_rows{service="S"}`:                                1,
			`kuhnya_outbox_oldest_age_seconds{service="S"}`:                  1.5,
			`kuhnya_outbox_parked_rows{service="S"}`:                         2,
			`kuhnya_dead_letters{service="S",state="open"}`:                  6,
			`kuhnya_dead_letters{service="S",state="redriven"}`:              7,
			`kuhnya_dead_letters{service="S",state="discarded"}`:             8,
			`kuhnya_consumer_lag_records{group="S",partition="0",topic="t"}`: 5,
			`kuhnya_build_info{go_version="` + goVersion + `",version="v1"}`: 1,
		}
		named := map[string]float64{}
		for name, value := range all {
			named[strings.ReplaceAll(name, `"S"`, `"`+service+`"`)] = value
		}
		for name, value := range more {
			named[name] = value
		}
		return named
	}
	for service, more := range map[string]map[string]float64{
		"kitchen":       {`kuhnya_stuck_orders{service="kitchen"}`: 4},
		"establishment": {`kuhnya_unsent_steps{service="establishment"}`: 3},
		"bonus":         nil,
	} {
		m := New("v1")
		m.Service(service).Overview(fixed(overviewOf(service)))
		wantShown(t, m, "kuhnya_", shown(service, more))
		wantSeries(t, m, `kuhnya_consumer_lag_records{group="`+service+`",partition="1",topic="t"}`, 0)
	}
}

func TestOverview_that_fails_is_counted_and_left_out(t *testing.T) {
	m := New("v1")
	m.Service("kitchen").Overview(func(context.Context) (ops.Overview, error) { return overviewOf("kitchen"), errors.New("disk") })
	m.Service("kitchen").Database(filepath.Join(t.TempDir(), "absent"))
	m.Disk(filepath.Join(t.TempDir(), "absent"))
	gathered(t, m)
	wantShown(t, m, "kuhnya_outbox", map[string]float64{})
	wantShown(t, m, "kuhnya_dead", map[string]float64{})
	wantShown(t, m, "kuhnya_consumer", map[string]float64{})
	wantShown(t, m, "kuhnya_d", map[string]float64{})
	for series, errors := range gathered(t, m) {
		want := 0.
		for _, part := range []string{`part="overview",service="kitchen"`, `part="database_size",service="kitchen"`, `part="disk",service="process"`} {
			if strings.Contains(series, part) {
				want = 3 // of the scrapes before; this one may count itself or not
			}
		}
		if strings.Contains(series, "scrape_errors") && errors < want {
			t.Errorf("%s is %v, want %v", series, errors, want)
		}
	}
}

func TestOverview_without_a_broker_leaves_the_lag_out(t *testing.T) {
	m := New("v1")
	blind := overviewOf("kitchen")
	blind.ReadingError, blind.Reading = "the broker can't be reached", nil
	m.Service("kitchen").Overview(fixed(blind))
	gathered(t, m)
	wantShown(t, m, "kuhnya_consumer_lag", map[string]float64{})
	wantSeries(t, m, `kuhnya_outbox_rows{service="kitchen"}`, 1)
	if n := gathered(t, m)[`kuhnya_scrape_errors_total{part="lag",service="kitchen"}`]; n < 3 {
		t.Errorf("%v errors counted", n)
	}
}

func TestOverview_is_taken_once_by_scrapes_that_overlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New("v1")
		var looks atomic.Int64
		m.Service("kitchen").Overview(func(context.Context) (ops.Overview, error) {
			time.Sleep(time.Second)
			looks.Add(1)
			return overviewOf("kitchen"), nil
		})
		var scrapes sync.WaitGroup
		for range 5 {
			scrapes.Go(func() { wantSeries(t, m, `kuhnya_outbox_rows{service="kitchen"}`, 1) })
		}
		scrapes.Wait()
		if n := looks.Load(); n != 1 {
			t.Errorf("%d looks for 5 scrapes", n)
		}
	})
}

func TestOverview_that_hangs_does_not_hang_the_scrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New("v1")
		hang, bounded := make(chan struct{}), make(chan bool, 1)
		m.Service("kitchen").Overview(func(ctx context.Context) (ops.Overview, error) {
			_, ok := ctx.Deadline()
			bounded <- ok
			<-hang
			return ops.Overview{}, nil
		})
		began := time.Now()
		wantShown(t, m, "kuhnya_outbox", map[string]float64{})
		if took := time.Since(began); took != inspectTimeout {
			t.Errorf("took %s", took)
		}
		if !<-bounded {
			t.Error("the look itself may take for ever")
		}
		wantShown(t, m, "kuhnya_outbox", map[string]float64{}) // with the look that hangs, not with another
		close(hang)
	})
}

func TestDatabase_is_as_large_as_its_files(t *testing.T) {
	m, path := New("v1"), filepath.Join(t.TempDir(), "kitchen.db")
	m.Service("kitchen").Database(path)
	write := func(path string, n int) {
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, 100)
	wantSeries(t, m, `kuhnya_database_bytes{service="kitchen"}`, 100)
	write(path+"-wal", 11)
	wantSeries(t, m, `kuhnya_database_bytes{service="kitchen"}`, 111)
}
