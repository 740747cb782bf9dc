package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"kuhnya/consume"
	"kuhnya/internal/broker"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/httpapi"
	"kuhnya/outbox"
)

// A broker that never answers makes the end of a unit take all of these one after the other: what consumers run, their
// last commit, leaving the group, what the rules have admitted, what the relay publishes.
const (
	consumerGrace = time.Second
	commitTimeout = time.Second
	rulesTimeout  = time.Second
	relayGrace    = 500 * time.Millisecond
)

// ClosingTimeout bounds the end of a process, after everything in flight was finished or given up.
const ClosingTimeout = 3 * time.Second

// unit is one service as the process runs it: the parts that all services have alike.
type unit struct {
	name      string
	topics    []string // that it reads
	db        *database.SQLite
	publisher *broker.Publisher
	relay     *outbox.Relay
	consumer  *consume.Consumer
	sweepers  []func(context.Context)
	register  func(*httpapi.API)
	close     func(context.Context) error // lets the rules decide what was admitted
	cleanup   []func()

	stopConsuming, stopRelaying context.CancelFunc
	consuming, relaying         sync.WaitGroup
}

// newUnit opens what all services have alike: the relay of the outbox.
func newUnit(name string, db *database.SQLite, m *messaging, log *slog.Logger) (*unit, error) {
	publisher, err := broker.NewPublisher(m.connection)
	if err != nil {
		return nil, err
	}
	return &unit{name: name, db: db, publisher: publisher, relay: outbox.NewRelay(outbox.RelayOptions{
		Store: messagesql.NewOutbox(db), Publisher: publisher, Grace: relayGrace, Logger: log.With("service", name),
	})}, nil
}

// consume gives the unit its consumer: the topics that the group of its name is declared to read.
func (u *unit) consume(ctx context.Context, c Config, m *messaging, handler consume.Handler) (err error) {
	u.topics = c.Topics.ReadBy(u.name)
	limit, err := m.deadLetterLimit(ctx, u.name, u.topics)
	if err != nil {
		return err
	}
	u.consumer, err = consume.New(consume.Options{
		Group: u.name, Topics: u.topics,
		ClientOptions: m.connection.ConsumerOptions(), DeadLetterOptions: m.connection.ProducerOptions(),
		Handler: handler, Classify: broker.Classify, DeadLetters: messagesql.NewDeadLetters(u.db), MaxMessageBytes: int32(limit),
		Grace: consumerGrace, CommitTimeout: commitTimeout, Logger: c.Log.With("service", u.name),
	})
	return err
}

// start begins consuming, relaying and sweeping.
func (u *unit) start(log *slog.Logger) {
	consuming, stopConsuming := context.WithCancel(context.Background())
	relaying, stopRelaying := context.WithCancel(context.Background())
	u.stopConsuming, u.stopRelaying = stopConsuming, stopRelaying
	u.consuming.Go(func() {
		if err := u.consumer.Run(consuming); err != nil {
			log.Error("consumer stopped", "service", u.name, "error", err)
		}
	})
	u.relaying.Go(func() {
		if err := u.relay.Run(relaying); err != nil {
			log.Error("outbox relay stopped", "service", u.name, "error", err)
		}
	})
	for _, sweep := range u.sweepers {
		u.consuming.Go(func() { sweep(consuming) })
	}
}

// idle says whether everything that the unit has to send is sent, and everything that it has to read is read.
func (u *unit) idle(ctx context.Context, m *messaging) bool {
	depth, err := messagesql.NewOutbox(u.db).Depth(ctx)
	if err != nil || depth.Waiting > 0 {
		return false
	}
	lag, err := m.admin.Lag(ctx, u.name, u.topics...)
	return err == nil && lag == 0
}

// stop ends the unit: first what brings work in, then the rules, then what carries results out.
func (u *unit) stop(ctx context.Context) error {
	if u.stopConsuming != nil {
		u.stopConsuming()
		u.consuming.Wait()
	}
	// The rules wait for no broker: they get time of their own, so that what the consumer spent on one cuts nothing off.
	deciding, cancel := context.WithTimeout(context.WithoutCancel(ctx), rulesTimeout)
	defer cancel()
	err := u.close(deciding)
	if u.stopRelaying != nil {
		u.stopRelaying()
		u.relaying.Wait()
	}
	u.publisher.Close()
	for _, cleanup := range u.cleanup {
		cleanup()
	}
	return errors.Join(err, u.db.Close())
}
