package consume

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// publisher sends dead letters with a client of its own.
type publisher struct {
	options Options
	client  *kgo.Client
	// turns holds a chan struct{} of capacity one per dead-letter topic: one dead letter at a time. Two in one batch
	// would share its fate, and both lose their values if the broker refuses it as too large.
	turns sync.Map
}

func newPublisher(o Options) *publisher { return &publisher{options: o} }

func (p *publisher) open() (err error) {
	if p.client, err = kgo.NewClient(publisherOptions(p.options)...); err != nil {
		return fmt.Errorf("consume: open dead-letter client: %w", err)
	}
	return nil
}

func (p *publisher) close() { p.client.Close() }

// publish returns nil once the broker has acknowledged the dead letter.
func (p *publisher) publish(ctx context.Context, d DeadLetter) error {
	topic := p.options.DeadLetterTopic(d.Topic)
	done, err := p.takeTurn(ctx, topic)
	if err != nil {
		return fmt.Errorf("wait to publish to %s: %w", topic, err)
	}
	defer done()
	if err := p.send(ctx, d.record(topic)); err != nil {
		return fmt.Errorf("publish to %s: %w", topic, err)
	}
	return nil
}

func (p *publisher) takeTurn(ctx context.Context, topic string) (done func(), err error) {
	value, _ := p.turns.LoadOrStore(topic, make(chan struct{}, 1))
	turn := value.(chan struct{})
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send leaves out what doesn't fit, the largest first: a record too large to be published must not block its partition.
// The store gets it whole.
func (p *publisher) send(ctx context.Context, r *kgo.Record) (err error) {
	for _, omit := range []func(*kgo.Record){nothing, omitValue, omitHeaders, omitKey} {
		omit(r)
		if err = p.client.ProduceSync(ctx, r).FirstErr(); !errors.Is(err, kerr.MessageTooLarge) {
			return err
		}
	}
	return err
}

func nothing(*kgo.Record) {}

func omitValue(r *kgo.Record) {
	addHeader(r, HeaderValueOmitted, strconv.Itoa(len(r.Value)))
	r.Value = nil
}

func omitHeaders(r *kgo.Record) {
	var kept []kgo.RecordHeader
	for _, h := range r.Headers {
		if isWritten(h.Key) {
			kept = append(kept, h)
		}
	}
	omitted := len(r.Headers) - len(kept)
	r.Headers = kept
	addHeader(r, HeaderHeadersOmitted, strconv.Itoa(omitted))
}

func omitKey(r *kgo.Record) {
	addHeader(r, HeaderKeyOmitted, strconv.Itoa(len(r.Key)))
	r.Key = nil
}
