package app

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func measured(data string) Config {
	c := quiet(data)
	c.MetricsAddr = "127.0.0.1:0"
	return c
}

func TestMetrics_are_shown_until_the_process_stops(t *testing.T) {
	a, err := Start(t.Context(), measured(t.TempDir()))
	must(t, err)
	answer, err := http.Get(a.MetricsURL())
	must(t, err)
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != 200 || !strings.Contains(string(body), `kuhnya_outbox_rows{service="kitchen"} 0`) {
		t.Errorf("%d: %.500s", answer.StatusCode, body)
	}
	stopped(t, a)
	if answer, err := http.Get(a.MetricsURL()); err == nil {
		answer.Body.Close()
		t.Error("still shown")
	}
}

func TestMetrics_are_not_shown_unless_asked_for(t *testing.T) {
	a := started(t, t.TempDir())
	defer stopped(t, a)
	if url := a.MetricsURL(); url != "" {
		t.Errorf("shown at %s", url)
	}
	answer, err := http.Get(a.URL() + "/metrics")
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != 404 {
		t.Errorf("the API answers %d", answer.StatusCode)
	}
}

func TestMetrics_port_is_free_after_a_failed_start(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	addr := free.Addr().String()
	must(t, free.Close())
	data := t.TempDir()
	breakService(t, data, Kitchen)
	c := measured(data)
	c.MetricsAddr = addr
	if a, err := Start(t.Context(), c); err == nil {
		stopped(t, a)
		t.Fatal("started")
	}
	again, err := net.Listen("tcp", addr)
	must(t, err)
	must(t, again.Close())
}
