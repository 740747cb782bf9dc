package app

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

func TestConnections_beyond_the_limit_wait(t *testing.T) {
	a := running(t, t.TempDir(), func(c *Config) { c.connections = 1 })
	ask := func() net.Conn {
		conn, err := net.Dial("tcp", a.listener.Addr().String())
		must(t, err)
		_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		must(t, err)
		return conn
	}
	answered := func(conn net.Conn) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := http.ReadResponse(bufio.NewReader(conn), nil)
			done <- err
		}()
		return done
	}
	first := ask()
	must(t, <-answered(first))
	second := ask()
	defer second.Close()
	waiting := answered(second)
	// The second can't be answered while the first is open; that the first still is shows that there was time to.
	for range 10 {
		_, err := io.WriteString(first, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		must(t, err)
		must(t, <-answered(first))
	}
	select {
	case err := <-waiting:
		t.Fatalf("two connections were served at once: %v", err)
	default:
	}
	first.Close()
	must(t, <-waiting)
}
