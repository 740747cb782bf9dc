package embedded

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

const (
	maxClients = 256 // open connections; far more than a laptop needs
	// What a client may take: until its next request begins, as long as Kafka gives it; for one request, from its first
	// byte to its last; and until it takes more of an answer.
	idleTime   = 10 * time.Minute
	frameTime  = 30 * time.Second
	answerTime = 30 * time.Second
)

// client is a connection from another process, with limits on how slowly it may send and read.
type client struct{ net.Conn }

// read appends the client's next size and request to frame.
func (c *client) read(frame *bytes.Buffer) error {
	_ = c.SetReadDeadline(time.Now().Add(idleTime))
	if _, err := io.CopyN(frame, c.Conn, 1); err != nil {
		return err
	}
	_ = c.SetReadDeadline(time.Now().Add(frameTime))
	err := readFrame(frame, c.Conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return bad("unfinished after %s", frameTime)
	}
	return err
}

// Write sends a part of an answer.
func (c *client) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(answerTime))
	return c.Conn.Write(p)
}
