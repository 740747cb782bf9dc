package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

const (
	// acceptPause lets other connections end after the process ran out of files.
	acceptPause = 50 * time.Millisecond
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

	running context.Context
	stop    context.CancelFunc
	conns   sync.WaitGroup
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
	f := &front{listener: listener, dial: dial, logger: logger}
	f.running, f.stop = context.WithCancel(context.Background())
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
			f.conns.Go(func() { f.handle(conn) })
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

// handle joins a client with the broker until one of them ends it, the client sends what may not pass, or close.
func (f *front) handle(client net.Conn) {
	defer client.Close()
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
		f.logger.Warn("kafka client cut off", "client", client.RemoteAddr().String(), "error", err)
	}
	client.Close()
	f.linger(answered)
	cut()
	<-answered
}

// linger keeps the broker's side of a connection open for a while after its client has gone. A member of a group whose
// process dies while it joins has its answer waiting in the broker, which starts the member's session time-out only
// once that answer is written; on a closed connection it never does, and the group waits for a ghost.
func (f *front) linger(answered <-chan struct{}) {
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
