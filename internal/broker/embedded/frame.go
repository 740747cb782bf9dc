package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/internal/broker"
)

const (
	sizeBytes = 4
	// A request begins with its key (2 bytes), version (2), correlation id (4) and the length of the client's name (2).
	minFrameBytes = 10
	maxFrameBytes = broker.MaxRequestBytes
)

// versions is the range of a request's versions that the broker knows.
type versions struct{ min, max int16 }

// requestKinds are the requests that the broker knows, by key.
type requestKinds map[int16]versions

// badRequestError says why a request may not reach the broker.
type badRequestError struct{ reason string }

func (e *badRequestError) Error() string { return "bad kafka request: " + e.reason }

func bad(format string, args ...any) error { return &badRequestError{fmt.Sprintf(format, args...)} }

// knownRequests asks the broker itself, so that the list can't differ from what it handles.
func knownRequests(ctx context.Context, admin *broker.Admin) (requestKinds, error) {
	answers, err := admin.Kafka().ApiVersions(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask broker for its requests: %w", err)
	}
	known := make(requestKinds)
	for _, answer := range answers {
		if answer.Err != nil {
			return nil, fmt.Errorf("ask broker for its requests: %w", answer.Err)
		}
		answer.EachKeySorted(func(key, min, max int16) { known[key] = versions{min, max} })
	}
	return known, nil
}

// forward copies requests from a client to w until the client ends or takes too long, or a request is bad, which is
// a [*badRequestError]. Of a bad request nothing is copied.
func (k requestKinds) forward(w io.Writer, c *client) error {
	for {
		var frame bytes.Buffer // a new one each time: a client that rests must not keep the memory of its largest request
		if err := c.read(&frame); err != nil {
			return err
		}
		if err := k.check(frame.Bytes()[sizeBytes:]); err != nil {
			return err
		}
		if _, err := w.Write(frame.Bytes()); err != nil {
			return err
		}
	}
}

// readFrame reads what is left of a size, and the request after it. Memory grows with what arrives, not with the size that
// the client claims.
func readFrame(frame *bytes.Buffer, r io.Reader) error {
	if _, err := io.CopyN(frame, r, sizeBytes-int64(frame.Len())); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(frame.Bytes())
	if size < minFrameBytes || size > maxFrameBytes {
		return bad("%d bytes", size)
	}
	_, err := io.CopyN(frame, r, int64(size))
	return err
}

func (k requestKinds) check(request []byte) error {
	key := int16(binary.BigEndian.Uint16(request))
	version := int16(binary.BigEndian.Uint16(request[2:]))
	known, ok := k[key]
	if !ok {
		return bad("unknown key %d", key)
	}
	// A client that is newer than the broker learns so by asking with its own version, which the broker answers.
	tooNew := version > known.max && kmsg.Key(key) != kmsg.ApiVersions
	if version < known.min || tooNew {
		return bad("%s version %d", kmsg.NameForKey(key), version)
	}
	return decode(request, key, version)
}

// decode reads a request exactly as the broker will. Where that panics it does so here, where it can be caught.
func decode(request []byte, key, version int16) (err error) {
	name := kmsg.NameForKey(key)
	defer func() {
		if cause := recover(); cause != nil {
			err = bad("%s version %d: %v", name, version, cause)
		}
	}()
	reader := kbin.Reader{Src: request[8:]}
	reader.NullableString() // the client's name
	body := kmsg.RequestForKey(key)
	body.SetVersion(version)
	if body.IsFlexible() {
		kmsg.SkipTags(&reader)
	}
	if err := body.ReadFrom(reader.Src); err != nil {
		return bad("%s version %d: %v", name, version, err)
	}
	return nil
}
