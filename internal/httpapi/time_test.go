package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kuhnya/internal/httpapi"
)

// pipes is a listener whose connections live in memory, so that time-outs follow the clock of a synctest bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// inBubble runs a test in a bubble. The test makes its API in there too, and start serves it.
func inBubble(t *testing.T, test func(t *testing.T, start func(*httpapi.API) (dial func() net.Conn))) {
	synctest.Test(t, func(t *testing.T) {
		test(t, func(api *httpapi.API) func() net.Conn {
			l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
			srv := httpapi.NewServer("", api.Handler())
			done := make(chan struct{})
			go func() { defer close(done); srv.Serve(l) }()
			t.Cleanup(func() { srv.Close(); <-done })
			return l.dial
		})
	})
}

func anyone(method string) httpapi.Operation {
	return httpapi.Operation{ID: "x", Method: method, Path: "/x", Access: httpapi.Anyone}
}

type note struct {
	Body struct {
		Text string `json:"text"`
	}
}

const getX = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"

const postNote = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"

func roundTrip(t *testing.T, c net.Conn, request string) *http.Response {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestLifetime(t *testing.T) {
	t.Run("a change ends after ten seconds with 503", func(t *testing.T) {
		inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
			api, ended := newAPI().api, time.Duration(0)
			httpapi.Register(api, anyone("POST"), func(ctx context.Context, _ *note) (*httpapi.Answer[int], error) {
				began := time.Now()
				<-ctx.Done()
				ended = time.Since(began)
				return nil, ctx.Err()
			})
			res := roundTrip(t, start(api)(), postNote+`{"text":"a"}`)
			if res.StatusCode != 503 || res.Header.Get("Retry-After") != "1" || ended != httpapi.MaxTime {
				t.Errorf("%d %v after %s", res.StatusCode, res.Header, ended)
			}
		})
	})
	t.Run("a change goes on without its client", func(t *testing.T) {
		inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
			api, w := newAPI().api, newWaiter()
			httpapi.Register(api, anyone("POST"), func(ctx context.Context, _ *note) (*httpapi.Answer[int], error) {
				return w.wait(ctx)
			})
			if got := w.afterLeaving(t, start(api)(), postNote+`{"text":"a"}`); got != httpapi.MaxTime {
				t.Errorf("ended after %s", got)
			}
		})
	})
	// A client that has only finished sending looks the same as one that has gone.
	t.Run("a read goes on without its client", func(t *testing.T) {
		inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
			api, w := newAPI().api, newWaiter()
			httpapi.Register(api, anyone("GET"), func(ctx context.Context, _ *struct{}) (*httpapi.Answer[int], error) {
				return w.wait(ctx)
			})
			if got := w.afterLeaving(t, start(api)(), getX); got != httpapi.MaxTime {
				t.Errorf("ended after %s", got)
			}
		})
	})
	t.Run("a body that never ends is refused", func(t *testing.T) {
		inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
			api := newAPI().api
			httpapi.Register(api, anyone("POST"), func(context.Context, *note) (*httpapi.Answer[int], error) {
				return nil, errors.New("reached the handler")
			})
			began := time.Now()
			res := roundTrip(t, start(api)(), postNote+`{"text"`)
			if took := time.Since(began); res.StatusCode != 400 || took != 10*time.Second {
				t.Errorf("%d after %s", res.StatusCode, took)
			}
		})
	})
	t.Run("headers that never end lose the connection", func(t *testing.T) {
		inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
			c, began := start(newAPI().api)(), time.Now()
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n"); err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(c)
			if took := time.Since(began); took != 5*time.Second {
				t.Errorf("closed after %s", took)
			}
		})
	})
	t.Run("an answer that nobody reads loses the connection", func(t *testing.T) {
		inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
			api, ended := newAPI().api, make(chan time.Duration, 1)
			api.Handle("GET /large", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				began := time.Now()
				_, _ = w.Write(make([]byte, 1<<20))
				ended <- time.Since(began)
			}))
			if _, err := io.WriteString(start(api)(), "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if took := <-ended; took != 30*time.Second {
				t.Errorf("given up after %s", took)
			}
		})
	})
	t.Run("a connection without requests is closed", func(t *testing.T) {
		inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
			c := start(newAPI().api)()
			if res := roundTrip(t, c, "GET /v1/fail HTTP/1.1\r\nHost: x\r\n\r\n"); res.StatusCode != 200 {
				t.Fatal(res.StatusCode)
			}
			began := time.Now()
			_, _ = io.ReadAll(c)
			if took := time.Since(began); took != time.Minute {
				t.Errorf("closed after %s", took)
			}
		})
	})
}

// waiter is a handler that only ends with its context.
type waiter struct {
	began chan struct{}
	ended chan time.Duration
}

func newWaiter() *waiter { return &waiter{make(chan struct{}), make(chan time.Duration, 1)} }

func (w *waiter) wait(ctx context.Context) (*httpapi.Answer[int], error) {
	at := time.Now()
	close(w.began)
	<-ctx.Done()
	w.ended <- time.Since(at)
	return nil, ctx.Err()
}

// afterLeaving hangs up once the handler runs and returns how long the handler went on.
func (w *waiter) afterLeaving(t *testing.T, c net.Conn, request string) time.Duration {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	<-w.began
	c.Close()
	return <-w.ended
}

// tick sends a numbered event for each value of ticks, and a heartbeat when none came for 20 seconds.
func tick(ticks <-chan int) func(context.Context, *httpapi.EventWriter) error {
	return func(ctx context.Context, w *httpapi.EventWriter) error {
		for {
			var err error
			select {
			case n := <-ticks:
				err = w.Send(strconv.Itoa(n), "tick", map[string]int{"n": n})
			case <-time.After(20 * time.Second):
				err = w.Heartbeat()
			case <-ctx.Done():
				return ctx.Err()
			}
			if err != nil {
				return err
			}
		}
	}
}

func TestStream(t *testing.T) {
	inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
		api, ticks := newAPI().api, make(chan int)
		httpapi.Register(api, anyone("GET"), func(context.Context, *struct{}) (*httpapi.EventStream, error) {
			return httpapi.Stream(tick(ticks)), nil
		})
		res := roundTrip(t, start(api)(), getX)
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%d %v", res.StatusCode, res.Header)
		}
		body := bufio.NewReader(res.Body)
		expect := func(want string) {
			t.Helper()
			got := make([]byte, len(want))
			if _, err := io.ReadFull(body, got); err != nil || string(got) != want {
				t.Fatalf("%q, %v; want %q", got, err, want)
			}
		}
		ticks <- 1
		expect("id: 1\nevent: tick\ndata: {\"n\":1}\n\n")
		for range 3 { // a minute, which is longer than any time-out of the server
			expect(":\n\n")
		}
		ticks <- 2
		expect("id: 2\nevent: tick\ndata: {\"n\":2}\n\n")
		api.CloseStreams()
		if rest, err := io.ReadAll(body); err != nil || len(rest) != 0 {
			t.Errorf("after closing: %q, %v", rest, err)
		}
	})
	t.Run("a client that stops reading is dropped", func(t *testing.T) {
		inBubble(t, func(t *testing.T, start func(*httpapi.API) func() net.Conn) {
			api, ticks, ended := newAPI().api, make(chan int), make(chan error, 1)
			httpapi.Register(api, anyone("GET"), func(context.Context, *struct{}) (*httpapi.EventStream, error) {
				return httpapi.Stream(func(ctx context.Context, w *httpapi.EventWriter) error {
					err := tick(ticks)(ctx, w)
					ended <- err
					return err
				}), nil
			})
			res := roundTrip(t, start(api)(), getX)
			defer res.Body.Close()
			began := time.Now()
			ticks <- 1
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 5*time.Second {
				t.Errorf("%v after %s", err, time.Since(began))
			}
		})
	})
	t.Run("is documented", func(t *testing.T) {
		api := newAPI().api
		httpapi.Register(api, anyone("GET"), func(context.Context, *struct{}) (*httpapi.EventStream, error) { return nil, nil })
		if _, doc := api.OpenAPI(); !strings.Contains(string(doc), "text/event-stream") {
			t.Error("no text/event-stream")
		}
	})
}
