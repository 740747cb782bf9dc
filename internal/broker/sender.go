package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/outbox"
)

// Sender publishes single messages for callers that wait for the answer. It may be used by many at once. It has a client
// of its own: a relay's backlog must not stand before a person's press of a button.
type Sender struct{ client *kgo.Client }

// NewSender makes a sender; it connects on first use. Close it after the last Send returned.
func NewSender(conn Connection) (*Sender, error) {
	client, err := kgo.NewClient(append(conn.ProducerOptions(), kgo.ProducerBatchMaxBytes(maxBatchBytes))...)
	if err != nil {
		return nil, fmt.Errorf("make sender: %w", err)
	}
	return &Sender{client: client}, nil
}

// Close gives up what is under way.
func (s *Sender) Close() { s.client.Close() }

// Send returns nil after the broker acknowledged the message. It returns within a moment after ctx ends; the message may
// have been written all the same, and is to be sent again with the same key. An error that matches
// [outbox.ErrUnpublishable] means that sending it again is useless. Messages sent at the same time have no order.
func (s *Sender) Send(ctx context.Context, m outbox.Message) error {
	if err := s.send(ctx, m); err != nil {
		return fmt.Errorf("send %s to %s: %w", m.EventID, m.Topic, err)
	}
	return nil
}

// neighbours bounds how often a message is sent again because of what others did.
const neighbours = 16

// send tries again when the message failed for a neighbour's sake: the client fails everything that waits for a
// partition when one caller there gives up, or when one record there is refused.
func (s *Sender) send(ctx context.Context, m outbox.Message) (err error) {
	refusedBefore := false
	for range neighbours {
		err = s.produce(ctx, record(m))
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case refused(err) && refusedBefore:
			return fmt.Errorf("%w: %w", outbox.ErrUnpublishable, err)
		case refused(err):
			refusedBefore = true
		case !isContextError(err):
			return err
		}
	}
	return err
}

func (s *Sender) produce(ctx context.Context, r *kgo.Record) error {
	answer := make(chan error, 1)
	s.client.Produce(ctx, r, func(_ *kgo.Record, err error) { answer <- err })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	// The answer may be a moment away, and an acknowledgement is worth it. A record that stays behind is failed by the
	// client when it next looks at its context.
	grace := time.NewTimer(cancelGrace)
	defer grace.Stop()
	select {
	case err := <-answer:
		return err
	case <-grace.C:
		return ctx.Err()
	}
}
