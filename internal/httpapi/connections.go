package httpapi

import (
	"net"
	"sync"
)

// LimitConnections returns a listener that has at most n connections open at once. Whoever comes then waits in the
// system's queue, as everybody does while the process is busy, until a connection is closed.
func LimitConnections(l net.Listener, n int) net.Listener {
	limited := &limitedListener{Listener: l, open: make(chan struct{}, n), closed: make(chan struct{})}
	limited.close = sync.OnceValue(func() error {
		close(limited.closed)
		return l.Close()
	})
	return limited
}

type limitedListener struct {
	net.Listener
	open   chan struct{} // holds a token for each connection
	closed chan struct{}
	close  func() error
}

func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.open
		return nil, err
	}
	return &limitedConn{Conn: conn, leave: sync.OnceFunc(func() { <-l.open })}, nil
}

// Close also ends an Accept that waits for a connection to be closed.
func (l *limitedListener) Close() error { return l.close() }

type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
