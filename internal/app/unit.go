package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"kuhnya/consume"
	"kuhnya/internal/audit"
	"kuhnya/internal/broker"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/event"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/obs"
	"kuhnya/outbox"
)

// What the parts of a unit may take to end. They end side by side, well within the units' share of [ClosingTimeout]
// whatever the broker does: a consumer within grace and commit time-out, a relay within its grace and a moment to settle.
const (
	consumerGrace = 500 * time.Millisecond
	commitTimeout = time.Second
	relayGrace    = time.Second
)

// unit is one service as the process runs it: the parts that all services have alike.
type unit struct {
	name     string
	log      *slog.Logger
	metrics  *obs.Service
	topics   []string // that it reads
	db       *database.SQLite
	outbox   messagesql.Outbox
	relay    *outbox.Relay
	consumer *consume.Consumer
	sweepers []func(context.Context)
	register func(*httpapi.API)
	backlog  func(context.Context) (int64, error) // what it has to send beside the outbox; may be nil
	stuck    func(context.Context) (int64, error) // orders that wait too long; may be nil
	// violations checks the service's own invariants in one snapshot; nil if it has none of its own.
	violations func(context.Context) ([]audit.Violation, error)

	ctx      context.Context // ends with halt
	halt     context.CancelFunc
	running  sync.WaitGroup
	cleanups []func(context.Context) error
}

func newUnit(name string, log *slog.Logger) *unit {
	u := &unit{name: name, log: log.With("service", name)}
	u.ctx, u.halt = context.WithCancel(context.Background())
	return u
}

// onStop adds what ends a part of the unit once nothing runs any more. The part that came last ends first.
func (u *unit) onStop(cleanup func(context.Context) error) {
	u.cleanups = append(u.cleanups, cleanup)
}

// onStopClose is onStop for what can't fail to close.
func (u *unit) onStopClose(closeIt func()) {
	u.onStop(func(context.Context) error {
		closeIt()
		return nil
	})
}

// open opens what all services have alike: the database, and the relay of its outbox.
func (u *unit) open(ctx context.Context, c Config, m *messaging) (err error) {
	if u.db, err = openDatabase(ctx, c.Data, u.name); err != nil {
		return err
	}
	u.onStop(func(context.Context) error { return u.db.Close() })
	publisher, err := broker.NewPublisher(m.connection)
	if err != nil {
		return err
	}
	u.onStopClose(publisher.Close)
	u.outbox = messagesql.NewOutbox(u.db)
	u.relay = outbox.NewRelay(outbox.RelayOptions{
		Store: u.outbox, Publisher: publisher, Grace: relayGrace, Logger: u.log, Observe: u.metrics.Relay(), Describe: event.Describe,
	})
	return nil
}

// consume gives the unit its consumer: of the topics that the group of its name is declared to read.
func (u *unit) consume(ctx context.Context, c Config, m *messaging, handler consume.Handler) (err error) {
	u.topics = c.Topics.ReadBy(u.name)
	u.consumer, err = consume.New(consume.Options{
		Group: u.name, Topics: u.topics,
		ClientOptions: m.connection.ConsumerOptions(), DeadLetterOptions: m.connection.ProducerOptions(),
		Handler: handler, Classify: broker.Classify, DeadLetters: messagesql.NewDeadLetters(u.db),
		MaxMessageBytes: m.deadLetterLimit(ctx, u.name, u.topics, u.log),
		Grace:           consumerGrace, CommitTimeout: commitTimeout, Logger: u.log, Describe: broker.Describe,
		Events: u.metrics.Consumer(u.topics),
	})
	return err
}

// start begins consuming, relaying and sweeping. What ends without being told to is reported to fail.
func (u *unit) start(fail func(error)) {
	for part, run := range map[string]func(context.Context) error{"consumer": u.consumer.Run, "outbox relay": u.relay.Run} {
		u.running.Go(func() {
			if err := run(u.ctx); err != nil {
				fail(fmt.Errorf("%s: %s: %w", u.name, part, err))
			}
		})
	}
	for _, sweep := range u.sweepers {
		u.running.Go(func() { sweep(u.ctx) })
	}
}

// idle says whether everything that the unit has to read is read, and everything that it has to send is sent. It asks
// in this order: what is read last may still make something to send.
func (u *unit) idle(ctx context.Context, m *messaging) bool {
	lag, err := m.admin.Lag(ctx, u.name, u.topics...)
	if err != nil || lag > 0 {
		return false
	}
	depth, err := u.outbox.Depth(ctx)
	if err != nil || depth.Waiting > 0 {
		return false
	}
	if u.backlog == nil {
		return true
	}
	unsent, err := u.backlog(ctx)
	return err == nil && unsent == 0
}

// stop ends the unit: what brings work in and what carries results out, then its parts in reverse. A row that comes to
// be in the last moment is sent after the next start.
func (u *unit) stop(ctx context.Context) error {
	u.halt()
	u.running.Wait()
	var err error
	for _, cleanup := range slices.Backward(u.cleanups) {
		err = errors.Join(err, cleanup(ctx))
	}
	return err
}
