package outbox

import (
	"context"
	"fmt"
	"time"
)

// passBatches bounds a pass by the batches of which something was acknowledged: under steady load a pass would never
// reach the end of the table, and a row whose lower id was committed late would wait for ever.
const passBatches = 16

// overdue is how long a publisher may take to return after its context ended.
const overdue = 500 * time.Millisecond

// found says what a pass came upon, which decides when the next one starts.
type found int

const (
	nothing found = iota // nothing was acknowledged
	some                 // the table was read to its end
	more                 // there is more to publish at once
)

// pass reads the table from its start, page by page, and publishes what may be published. A page that holds nothing but
// rows of failing keys is stepped over, so that they never stand in the way of others. An id carries a pass from page
// to page and is then forgotten: what was read is no mark below which the table is done.
func (t *tenure) pass() (found, error) {
	t.holds.begin(time.Now())
	var after int64
	for acknowledged := 0; acknowledged < passBatches; {
		rows, err := t.page(after)
		if err != nil {
			return nothing, err
		}
		acked, err := t.batch(t.holds.admit(rows))
		if err != nil {
			return nothing, err
		}
		if acked > 0 {
			acknowledged++
		}
		switch {
		case !t.open(), t.holds.full(), len(rows) < t.o.Batch && acknowledged == 0:
			return nothing, nil
		case len(rows) < t.o.Batch:
			return some, nil
		}
		after = rows[len(rows)-1].ID
	}
	return more, nil
}

func (t *tenure) page(after int64) ([]Row, error) {
	rows, err := t.o.Store.Pending(t.held, after, t.o.Batch)
	if err != nil {
		return nil, fmt.Errorf("read outbox after id %d: %w", after, err)
	}
	return rows, nil
}

// batch publishes rows and settles them, and returns how many left the table.
func (t *tenure) batch(rows []Row) (int, error) {
	if len(rows) == 0 || !t.open() {
		return 0, nil
	}
	start := time.Now()
	errs, err := t.publish(rows)
	if err != nil || t.lost() {
		return 0, err // another relay's rows now: it repeats what was acknowledged to us
	}
	v := judge(rows, errs)
	t.o.Observe.Published(len(v.acked), len(v.failed), time.Since(start))
	t.fails.learn(v)
	return t.settle(v)
}

// publish hands rows to the publisher and waits for it, until the lease is lost or the time is over. The publisher runs
// beside us only so that one which ignores its context can be told from a slow one.
func (t *tenure) publish(rows []Row) ([]error, error) {
	ctx, cancel := context.WithTimeout(t.held, t.o.PublishTimeout)
	defer cancel()
	answer := make(chan []error, 1)
	go func() { answer <- t.o.Publisher.Publish(ctx, rows) }()

	patience, enough := linger(ctx, overdue)
	defer enough()
	select {
	case errs := <-answer:
		return errs, nil
	case <-patience.Done():
		return nil, fmt.Errorf("publish %d rows: %w", len(rows), ErrPublisherStuck)
	}
}
