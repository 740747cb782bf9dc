package httpapi_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"

	"kuhnya/internal/httpapi"
)

// crowd is a listener whose clients are already there, as many as anybody accepts.
type crowd struct{ clients chan net.Conn }

func (p crowd) Accept() (net.Conn, error) {
	server, client := net.Pipe()
	p.clients <- client
	return server, nil
}

func (p crowd) Close() error   { return nil }
func (p crowd) Addr() net.Addr { return nil }

var errNoFiles = errors.New("too many open files")

type broken struct{ crowd }

func (broken) Accept() (net.Conn, error) { return nil, errNoFiles }

func TestLimitConnections(t *testing.T) {
	t.Run("lets the next one in when one is closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := httpapi.LimitConnections(crowd{make(chan net.Conn, 10)}, 2)
			accepted := make(chan net.Conn, 10)
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						close(accepted)
						return
					}
					accepted <- conn
				}
			}()
			synctest.Wait()
			if n := len(accepted); n != 2 {
				t.Fatalf("%d connections, want 2", n)
			}
			first := <-accepted
			for range 2 { // closing twice is closing once
				_ = first.Close()
			}
			synctest.Wait()
			if n := len(accepted); n != 2 {
				t.Errorf("%d connections after one was closed, want one new", n)
			}
			if err := l.Close(); err != nil { // ends the Accept that waits
				t.Error(err)
			}
			synctest.Wait()
			for range 2 {
				<-accepted
			}
			if _, open := <-accepted; open {
				t.Error("accepted after the end")
			}
		})
	})
	t.Run("keeps no room for connections that failed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := httpapi.LimitConnections(broken{}, 1)
			for range 3 {
				if _, err := l.Accept(); !errors.Is(err, errNoFiles) {
					t.Error(err)
				}
			}
		})
	})
	t.Run("connections are what they were", func(t *testing.T) {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l := httpapi.LimitConnections(tcp, 1)
		defer l.Close()
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(server, "hello"); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if got, err := io.ReadAll(client); err != nil || string(got) != "hello" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
