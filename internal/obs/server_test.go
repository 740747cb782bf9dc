package obs

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kuhnya/internal/ops"
)

// serving is a server of m on a free port, which must end in order.
func serving(t *testing.T, m *Metrics) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func fetch(t *testing.T, method, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestServer(t *testing.T) {
	t.Run("shows ours, Go's and the process's", func(t *testing.T) {
		status, body := fetch(t, "GET", serving(t, New("v7")).URL())
		for _, want := range []string{`kuhnya_build_info{go_version="` + goVersion + `",version="v7"} 1`, "go_goroutines ", "go_build_info{", "process_"} {
			if status != 200 || !strings.Contains(body, want) {
				t.Errorf("%d without %s", status, want)
			}
		}
	})
	t.Run("shows nothing else", func(t *testing.T) {
		url := serving(t, New("v1")).URL()
		for path, want := range map[string]int{"": 200, "/": 404, "/x": 404} {
			if status, _ := fetch(t, "GET", url+path); status != want {
				t.Errorf("/metrics%s: %d, want %d", path, status, want)
			}
		}
		if status, _ := fetch(t, "GET", strings.TrimSuffix(url, "/metrics")+"/debug/pprof/"); status != 404 {
			t.Errorf("pprof: %d", status)
		}
		if status, _ := fetch(t, "POST", url); status != 405 {
			t.Errorf("POST: %d", status)
		}
	})
	t.Run("without an address there is none", func(t *testing.T) {
		s, err := Listen("", New("v1"), slog.New(slog.DiscardHandler))
		if err != nil || s.URL() != "" || s.Serve() != nil || s.Close(t.Context()) != nil {
			t.Errorf("%v, %v", s, err)
		}
	})
	t.Run("a port in use is named", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		for _, addr := range []string{listener.Addr().String(), "127.0.0.1", "127.0.0.1:x"} {
			if _, err := Listen(addr, New("v1"), slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "--metrics-addr "+addr) {
				t.Errorf("%s: %v", addr, err)
			}
		}
	})
	t.Run("frees its port although it never served", func(t *testing.T) {
		s, err := Listen("127.0.0.1:0", New("v1"), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		again, err := net.Listen("tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
	})
}

func TestServer_limits(t *testing.T) {
	t.Run("few scrapes at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m, hang := New("v1"), make(chan struct{})
			m.Service("kitchen").Overview(func(context.Context) (ops.Overview, error) {
				<-hang
				return ops.Overview{}, nil
			})
			handler, answers := m.server(slog.New(slog.DiscardHandler)).Handler, make(chan int, maxScrapes+1)
			for range maxScrapes + 1 {
				go func() {
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
					answers <- w.Code
				}()
			}
			synctest.Wait()
			if n := len(answers); n != 1 || <-answers != 503 {
				t.Errorf("%d scrapes were answered at once, want one refused", n)
			}
			close(hang)
			for range maxScrapes {
				if status := <-answers; status != 200 {
					t.Errorf("%d", status)
				}
			}
		})
	})
	t.Run("every time-out is set", func(t *testing.T) {
		s := New("v1").server(slog.New(slog.DiscardHandler))
		for name, timeout := range map[string]time.Duration{
			"headers": s.ReadHeaderTimeout, "request": s.ReadTimeout, "answer": s.WriteTimeout, "idle": s.IdleTimeout,
		} {
			if timeout <= 0 || timeout > time.Minute {
				t.Errorf("%s: %s", name, timeout)
			}
		}
		if s.WriteTimeout <= scrapeTimeout || s.MaxHeaderBytes <= 0 {
			t.Errorf("answer within %s, headers of %d bytes", s.WriteTimeout, s.MaxHeaderBytes)
		}
	})
	t.Run("a scrape that hangs is cut off when the process ends", func(t *testing.T) {
		m, looking, hang := New("v1"), make(chan struct{}), make(chan struct{})
		defer close(hang)
		m.measure("kuhnya_hang_bytes", "For tests. Bytes.", nil, m.scrapeErrors.WithLabelValues("process", "hang"), func() (int64, error) {
			close(looking)
			<-hang
			return 0, nil
		})
		s := serving(t, m)
		broken := make(chan error, 1)
		go func() {
			_, err := http.Get(s.URL())
			broken <- err
		}()
		<-looking
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-broken; err == nil {
			t.Error("answered after the end")
		}
	})
}
