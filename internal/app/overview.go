package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"kuhnya/internal/audit"
	"kuhnya/internal/broker"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/event"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
	"kuhnya/outbox"
)

// readingTimeout bounds what the broker is asked for an overview, which is to answer although the broker is away.
const readingTimeout = 2 * time.Second

// registerOps adds what operators ask of the unit and do to it.
func (u *unit) registerOps(api *httpapi.API, m *messaging) {
	store := messagesql.NewDeadLetters(u.db)
	opshttp.Register(api, opshttp.Service{
		Name: u.name, DeadLetters: ops.NewDeadLetters(store, u.relay.Wake).LogTo(u.log), Store: store,
		Inspect:    func(ctx context.Context) (ops.Overview, error) { return u.overview(ctx, m) },
		Violations: u.check(), Parked: u.parked,
	})
}

// overview tells how the unit is doing, in the order of [unit.idle]: what is read last may still make something to send.
// It fails only if the database can't be read.
func (u *unit) overview(ctx context.Context, m *messaging) (o ops.Overview, err error) {
	o = ops.Overview{Service: u.name, At: time.Now().UTC()}
	if o.Reading, err = u.reading(ctx, m.admin); err != nil {
		u.log.Debug("overview without reading", "error", err)
		o.ReadingError = whyUnread(err)
	}
	depth, err := u.outbox.Depth(ctx)
	if err != nil {
		return o, err
	}
	o.Outbox = ops.OutboxDepth(depth)
	if o.UnsentSteps, err = count(ctx, u.backlog); err != nil {
		return o, err
	}
	if o.StuckOrders, err = count(ctx, u.stuck); err != nil {
		return o, err
	}
	o.DeadLetters, err = messagesql.NewDeadLetters(u.db).CountDeadLetters(ctx)
	return o, err
}

func count(ctx context.Context, what func(context.Context) (int64, error)) (int64, error) {
	if what == nil {
		return 0, nil
	}
	return what(ctx)
}

// reading asks how far the unit's group has come.
func (u *unit) reading(ctx context.Context, admin *broker.Admin) (all []ops.Reading, err error) {
	ctx, cancel := context.WithTimeout(ctx, readingTimeout)
	defer cancel()
	for _, topic := range u.topics {
		read, err := readTopic(ctx, admin, event.Consumer{Topic: topic, Group: u.name})
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return all, nil
}

// readTopic asks how far a group has come in a topic, by partition: where the logs end first, what is committed afterwards.
func readTopic(ctx context.Context, admin *broker.Admin, c event.Consumer) (read []ops.Reading, err error) {
	starts, ends, err := admin.Bounds(ctx, c.Topic)
	if err != nil {
		return nil, err
	}
	committed, err := admin.Committed(ctx, c.Group, c.Topic)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(ends)) {
		read = append(read, ops.Reading{Topic: c.Topic, Partition: p, End: ends[p], Committed: max(starts[p], committed[p])})
	}
	return read, nil
}

// whyUnread says it in words that may leave the process: the broker's own, but no address and no path.
func whyUnread(err error) string {
	var refusal *kerr.Error
	switch {
	case errors.As(err, &refusal):
		return "the broker answers " + refusal.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "the broker does not answer in time"
	}
	return "the broker can't be reached"
}

// parked lists the rows of the unit's outbox that could not be published. Their keys may be a stranger's bytes.
func (u *unit) parked(ctx context.Context) (rows []audit.Parked, err error) {
	err = u.outbox.EachParked(ctx, func(r outbox.Row, reason string) {
		key := strings.ToValidUTF8(r.Key, "\uFFFD")
		rows = append(rows, audit.Parked{Database: u.name, ID: r.ID, Key: key, Reason: reason})
	})
	return rows, err
}
