package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/outbox"
)

// ErrHeld says that a row was not published because an earlier row of its key was not.
var ErrHeld = errors.New("held behind an earlier row of its key")

// cancelGrace is how long a call waits, after its context ended, for the client to report what became of the records.
const cancelGrace = 250 * time.Millisecond

// Publisher sends the rows of an outbox. It implements [outbox.Publisher] and has a client of its own, so that nothing
// else's records can fail together with its rows.
type Publisher struct {
	client *kgo.Client
	turn   chan struct{} // holds one token: calls take turns, since a flush is the client's, not the call's
}

// NewPublisher makes a publisher; it connects on first use. Close it after the last Publish returned.
func NewPublisher(conn Connection) (*Publisher, error) {
	// Nothing leaves the client before every row of a call is in its buffers: a row that fails then takes all later rows
	// of its partition with it, instead of meeting some that are still on their way in.
	client, err := kgo.NewClient(append(conn.ProducerOptions(),
		kgo.ManualFlushing(),
		kgo.MaxBufferedRecords(1<<20),
		kgo.ProducerBatchMaxBytes(maxBatchBytes),
	)...)
	if err != nil {
		return nil, fmt.Errorf("make publisher: %w", err)
	}
	return &Publisher{client: client, turn: make(chan struct{}, 1)}, nil
}

// Close gives up what is under way.
func (p *Publisher) Close() { p.client.Close() }

// Publish sends rows in order and returns for each whether the broker acknowledged it. All rows that surely fit leave
// together; a row that may be too large, or that was refused, is sent again alone, and only if it is refused then does
// its error match [outbox.ErrUnpublishable]. Rows behind a failed one of their key are reported with [ErrHeld]. It
// returns within a moment after ctx ends; rows without an answer by then may have been written.
func (p *Publisher) Publish(ctx context.Context, rows []outbox.Row) []error {
	errs := make([]error, len(rows))
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		for i := range errs {
			errs[i] = ctx.Err()
		}
		return errs
	}
	lone := p.publishTogether(ctx, rows, errs)
	p.settleInOrder(ctx, rows, lone, errs)
	return errs
}

// publishTogether sends every row except those whose key has a row, up to there, that may be too large: the client
// would fail that one at once and send the rest of the key all the same. It returns those left out.
func (p *Publisher) publishTogether(ctx context.Context, rows []outbox.Row, errs []error) (lone []bool) {
	lone = make([]bool, len(rows))
	apart := make(map[string]bool)
	var together []int
	var records []*kgo.Record
	for i, row := range rows {
		if apart[row.Key] || maxEncodedSize(row.Message) > maxBatchBytes {
			apart[row.Key], lone[i] = true, true
			continue
		}
		together = append(together, i)
		records = append(records, record(row.Message))
	}
	for n, err := range p.send(ctx, records) {
		errs[together[n]] = err
	}
	return lone
}

// settleInOrder walks the rows once more: those left out or refused are sent alone, and so is everything of their key
// that follows; a row behind a failed one is held.
func (p *Publisher) settleInOrder(ctx context.Context, rows []outbox.Row, lone []bool, errs []error) {
	failed, apart := make(map[string]bool), make(map[string]bool)
	for i, row := range rows {
		switch {
		case failed[row.Key]:
			errs[i] = ErrHeld
		case lone[i] || apart[row.Key] || refused(errs[i]):
			apart[row.Key] = true
			errs[i] = p.sendAlone(ctx, row.Message)
		}
		if errs[i] != nil {
			failed[row.Key] = true
		}
	}
}

func (p *Publisher) sendAlone(ctx context.Context, m outbox.Message) error {
	err := p.send(ctx, []*kgo.Record{record(m)})[0]
	if refused(err) {
		return fmt.Errorf("%w: %w", outbox.ErrUnpublishable, err)
	}
	return err
}

// send buffers the records, flushes them and waits for each one's answer or for ctx.
func (p *Publisher) send(ctx context.Context, records []*kgo.Record) []error {
	if len(records) == 0 || ctx.Err() != nil {
		return repeat(ctx.Err(), len(records))
	}
	answers := newAnswers(records)
	for _, r := range records {
		p.client.Produce(ctx, r, answers.settle)
	}
	flushing, stop := context.WithCancel(ctx)
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		_ = p.client.Flush(flushing) // each record's own answer says more
	}()
	p.await(ctx, answers)
	stop()
	<-flushed
	return answers.errors(ctx.Err())
}

// await returns when every record has an answer. When ctx ends first, it gives the client a moment to cancel what is
// under way and then empties its buffers by force: the client numbers its records anew after that.
func (p *Publisher) await(ctx context.Context, answers *answers) {
	select {
	case <-answers.done:
		return
	case <-ctx.Done():
	}
	grace := time.NewTimer(cancelGrace)
	defer grace.Stop()
	select {
	case <-answers.done:
	case <-grace.C:
		p.client.UnsafeAbortBufferedRecords()
	}
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}
