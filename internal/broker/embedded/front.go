package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// acceptPause lets other connections end after the process ran out of files.
	acceptPause = 50 * time.Millisecond
	// maxLingering bounds connections whose client has gone.
	maxLingering = 256
	// lingerTime exceeds the time that a group waits for its members to join again, a minute for many clients.
	lingerTime = 90 * time.Second
)

// front is the TCP port of the broker. It takes connections from other processes of this machine, checks each request
// and passes it on in memory; a connection that sends anything else is closed. Answers pass unchecked.
type front struct {
	listener net.Listener
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	known    requestKinds // set before serve
	logger   *slog.Logger

	running   context.Context
	stop      context.CancelFunc
	conns     sync.WaitGroup
	open      chan struct{} // holds a token for each client
	lingering chan struct{}
	cutOff    atomic.Int64 // clients that were one too many, or sent what may not pass
}

func newFront(dial func(context.Context, string, string) (net.Conn, error), logger *slog.Logger) *front {
	f := &front{dial: dial, logger: logger, open: make(chan struct{}, maxClients), lingering: make(chan struct{}, maxLingering)}
	f.running, f.stop = context.WithCancel(context.Background())
	return f
}

// listenLoopback takes the port without serving it yet. A host that is not this machine's loopback is refused: the
// broker asks nobody who they are.
func listenLoopback(
	ctx context.Context, addr string, dial func(context.Context, string, string) (net.Conn, error), logger *slog.Logger,
) (*front, error) {
	if err := checkLoopback(addr); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for kafka clients: %w", err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return nil, errors.Join(notLoopback(addr), listener.Close())
	}
	f := newFront(dial, logger)
	f.listener = listener
	return f, nil
}

func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen for kafka clients: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return notLoopback(addr)
	}
	return nil
}

func notLoopback(addr string) error {
	return fmt.Errorf("listen for kafka clients on %s: the embedded broker listens on loopback only", addr)
}

// serve accepts until close, and returns when the last client is gone.
func (f *front) serve() {
	defer f.conns.Wait()
	for {
		conn, err := f.listener.Accept()
		switch {
		case err == nil:
			f.admit(conn)
		case f.running.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default:
			f.logger.Warn("accept kafka client", "error", err)
			f.pause()
		}
	}
}

func (f *front) pause() {
	timer := time.NewTimer(acceptPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.running.Done():
	}
}

// admit lets a client in if there is room for it.
func (f *front) admit(conn net.Conn) {
	select {
	case f.open <- struct{}{}:
		f.conns.Go(func() { f.handle(&client{conn}) })
	default:
		f.cutOff.Add(1)
		f.logger.Warn("kafka client refused, too many are connected", "client", conn.RemoteAddr().String(), "most", maxClients)
		conn.Close()
	}
}

// handle joins a client with the broker until one of them ends it, the client sends what may not pass, or close.
func (f *front) handle(client *client) {
	leave := sync.OnceFunc(func() {
		client.Close()
		<-f.open
	})
	defer leave()
	upstream, err := f.dial(f.running, "tcp", "")
	if err != nil {
		return // the broker is paused; the client sees its connection closed and comes again
	}
	cut := func() { client.Close(); upstream.Close() }
	defer context.AfterFunc(f.running, cut)()

	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(client, upstream)
		client.Close()
		_, _ = io.Copy(io.Discard, upstream)
	}()
	err = f.known.forward(upstream, client)
	if bad := new(badRequestError); errors.As(err, &bad) {
		f.cutOff.Add(1)
		f.logger.Warn("kafka client cut off", "client", client.RemoteAddr().String(), "error", err)
	}
	leave()
	f.linger(answered)
	cut()
	<-answered
}

// linger keeps the broker's side of a connection open for a while after its client has gone. A member of a group whose
// process dies while it joins has its answer waiting in the broker, which starts the member's session time-out only
// once that answer is written; on a closed connection it never does, and the group waits for a ghost. Clients that come
// and go without end are not worth that.
func (f *front) linger(answered <-chan struct{}) {
	select {
	case f.lingering <- struct{}{}:
		defer func() { <-f.lingering }()
	default:
		return
	}
	timer := time.NewTimer(lingerTime)
	defer timer.Stop()
	select {
	case <-answered:
	case <-f.running.Done():
	case <-timer.C:
	}
}

// close frees the port and cuts the clients off, which ends serve.
func (f *front) close() {
	f.stop()
	f.listener.Close()
}
