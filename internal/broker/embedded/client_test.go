package embedded

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// inFront runs a test in a bubble, with a front before a broker that is a pipe's other end: what comes out of brokers.
func inFront(t *testing.T, test func(t *testing.T, f *front, brokers <-chan net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		brokers := make(chan net.Conn, 2*maxClients)
		f := newFront(func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			brokers <- far
			return near, nil
		}, slog.New(slog.DiscardHandler))
		f.known = requestKinds{int16(kmsg.ApiVersions): {0, 3}}
		test(t, f, brokers)
		f.stop()
		f.conns.Wait()
	})
}

// come is a client that the front has been asked to let in.
func come(f *front) net.Conn {
	near, far := net.Pipe()
	f.admit(far)
	return near
}

// wantClosed fails unless the front closes the client's connection after d and not before.
func wantClosed(t *testing.T, client net.Conn, d time.Duration) {
	t.Helper()
	began := time.Now()
	if _, err := io.Copy(io.Discard, client); err != nil || time.Since(began) != d {
		t.Errorf("closed after %s with %v, want %s", time.Since(began), err, d)
	}
}

func send(t *testing.T, client net.Conn, bytes []byte) {
	t.Helper()
	if _, err := client.Write(bytes); err != nil {
		t.Error(err) // it may run beside the test
	}
}

var asking = kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrApiVersionsRequest(), 1)

func TestClient(t *testing.T) {
	t.Run("that sends nothing is closed as late as Kafka does it", func(t *testing.T) {
		inFront(t, func(t *testing.T, f *front, _ <-chan net.Conn) {
			wantClosed(t, come(f), idleTime)
			if n := f.cutOff.Load(); n != 0 {
				t.Errorf("%d counted as cut off", n)
			}
		})
	})
	t.Run("that asks now and then stays", func(t *testing.T) {
		inFront(t, func(t *testing.T, f *front, brokers <-chan net.Conn) {
			client := come(f)
			broker := <-brokers
			for range 10 {
				time.Sleep(idleTime - time.Second)
				go send(t, client, asking)
				if _, err := io.ReadFull(broker, make([]byte, len(asking))); err != nil {
					t.Fatal(err)
				}
			}
			wantClosed(t, client, idleTime)
		})
	})
	t.Run("that does not finish its request is cut off", func(t *testing.T) {
		for _, n := range []int{1, sizeBytes, len(asking) - 1} {
			inFront(t, func(t *testing.T, f *front, _ <-chan net.Conn) {
				client := come(f)
				send(t, client, asking[:n])
				wantClosed(t, client, frameTime)
				if counted := f.cutOff.Load(); counted != 1 {
					t.Errorf("%d counted as cut off", counted)
				}
			})
		}
	})
	t.Run("that does not read its answer is cut off", func(t *testing.T) {
		inFront(t, func(t *testing.T, f *front, brokers <-chan net.Conn) {
			client := come(f)
			broker := <-brokers
			go send(t, broker, []byte("answer"))
			time.Sleep(answerTime)
			synctest.Wait()
			if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%v", err)
			}
		})
	})
}

func TestClients_are_limited(t *testing.T) {
	inFront(t, func(t *testing.T, f *front, _ <-chan net.Conn) {
		clients := make([]net.Conn, maxClients)
		for i := range clients {
			clients[i] = come(f)
		}
		synctest.Wait()
		wantClosed(t, come(f), 0)
		if n := f.cutOff.Load(); n != 1 {
			t.Errorf("%d counted as cut off", n)
		}
		clients[0].Close()
		synctest.Wait()
		clients[0] = come(f) // although the broker's side of the one before lingers
		synctest.Wait()
		if n := len(f.open); n != maxClients {
			t.Errorf("%d clients", n)
		}
		for _, client := range clients {
			client.Close()
		}
	})
}

// TestLingering has more clients come and go than the front remembers.
func TestLingering_is_limited(t *testing.T) {
	inFront(t, func(t *testing.T, f *front, brokers <-chan net.Conn) {
		for range maxLingering + 10 {
			come(f).Close()
			synctest.Wait()
		}
		closed := 0
		for range maxLingering + 10 {
			broker := <-brokers
			_ = broker.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := broker.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
				closed++
			}
		}
		if closed != 10 {
			t.Errorf("%d of the broker's connections were closed at once, want those beyond %d", closed, maxLingering)
		}
	})
}
