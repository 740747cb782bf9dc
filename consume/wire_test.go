package consume_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire is a member's network, which a test can cut.
type wire struct {
	mu    sync.Mutex
	dead  bool
	mute  atomic.Bool
	lost  chan kmsg.Key // the requests that vanished
	conns []net.Conn
	dial  func(context.Context, string, string) (net.Conn, error)
}

func newWire() *wire { return &wire{lost: make(chan kmsg.Key, 10_000)} }

// through returns the options with their dialer replaced.
func (w *wire) through(broker []kgo.Opt) []kgo.Opt {
	probe, _ := kgo.NewClient(broker...)
	defer probe.Close()
	w.dial = probe.OptValue(kgo.Dialer).(func(context.Context, string, string) (net.Conn, error))
	return append(slices.Clone(broker), kgo.Dialer(w.connect))
}

func (w *wire) connect(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := w.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		_ = conn.Close()
		return nil, errors.New("the wire is cut")
	}
	w.conns = append(w.conns, conn)
	return deafConn{conn, w}, nil
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, conn := range w.conns {
		_ = conn.Close()
	}
}

// silence lets requests vanish: connections stay open, and no answer ever comes.
func (w *wire) silence() { w.mute.Store(true) }

type deafConn struct {
	net.Conn
	wire *wire
}

func (c deafConn) Write(p []byte) (int, error) {
	if !c.wire.mute.Load() {
		return c.Conn.Write(p)
	}
	c.wire.lost <- kmsg.Key(binary.BigEndian.Uint16(p[4:])) // the client writes whole requests, after their size
	return len(p), nil
}
