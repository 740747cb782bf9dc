package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/event"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/ops"
)

// ErrNotAtRest says that the services can't be compared now.
var ErrNotAtRest = errors.New("not at rest")

// Auditor checks the databases of a data folder, whether processes are running on them or not.
type Auditor struct {
	Data         string
	KafkaBrokers []string // empty: the broker folder in Data is opened, if nobody has it
	Topics       event.Topics

	kitchen, establishment *database.SQLite
}

// Open opens the databases, which must exist.
func (a *Auditor) Open() (err error) {
	if a.kitchen, err = openExisting(a.Data, Kitchen); err != nil {
		return err
	}
	if a.establishment, err = openExisting(a.Data, Establishment); err != nil {
		return errors.Join(err, a.kitchen.Close())
	}
	return nil
}

// Close closes the databases.
func (a *Auditor) Close() error {
	return errors.Join(a.kitchen.Close(), a.establishment.Close())
}

// Live checks what must hold at every moment, one snapshot for each database.
func (a *Auditor) Live(ctx context.Context) ([]audit.Violation, error) {
	return kitchensql.NewSQLite(a.kitchen).Violations(ctx)
}

// AtRest checks what must hold when nothing is on its way. If something is, or becomes so while it looks, the error is
// [ErrNotAtRest].
func (a *Auditor) AtRest(ctx context.Context) ([]audit.Violation, error) {
	if err := a.mustRest(ctx); err != nil {
		return nil, err
	}
	orders, err := kitchensql.NewSQLite(a.kitchen).AuditOrders(ctx)
	if err != nil {
		return nil, err
	}
	tickets, err := establishmentsql.NewSQLite(a.establishment).AuditTickets(ctx)
	if err != nil {
		return nil, err
	}
	excused, err := a.excused(ctx)
	if err != nil {
		return nil, err
	}
	after, err := kitchensql.NewSQLite(a.kitchen).AuditOrders(ctx)
	if err != nil {
		return nil, err
	}
	if !maps.Equal(orders.Status, after.Status) {
		return nil, fmt.Errorf("%w: orders changed during the comparison", ErrNotAtRest)
	}
	return audit.Compare(orders, tickets, excused), nil
}

func (a *Auditor) mustRest(ctx context.Context) (err error) {
	var rest audit.Rest
	for _, db := range []*database.SQLite{a.kitchen, a.establishment} {
		depth, err := messagesql.NewOutbox(db).Depth(ctx)
		if err != nil {
			return err
		}
		rest.Outbox += depth.Waiting
	}
	backlog, err := establishmentsql.NewSQLite(a.establishment).Backlog(ctx)
	if err != nil {
		return err
	}
	rest.Steps = backlog.Steps
	if rest.Lag, err = a.lag(ctx); err != nil {
		return err
	}
	if unrest := rest.Unrest(); unrest != "" {
		return fmt.Errorf("%w: %s", ErrNotAtRest, unrest)
	}
	return nil
}

// lag counts the records that the declared groups have not committed.
func (a *Auditor) lag(ctx context.Context) (total int64, err error) {
	connection := broker.Connection{Seeds: a.KafkaBrokers}
	if len(a.KafkaBrokers) == 0 {
		local, err := OpenBroker(ctx, a.Data, "", a.Topics, slog.New(slog.DiscardHandler))
		if errors.Is(err, embedded.ErrLocked) {
			return 0, fmt.Errorf("%w: the broker is running; name its address with --kafka-brokers, or stop it", ErrNotAtRest)
		}
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, local.Close(ctx)) }()
		connection = local.Connection()
	}
	admin, err := broker.NewAdmin(connection)
	if err != nil {
		return 0, err
	}
	defer admin.Close()
	for _, c := range a.Topics.Consumers() {
		lag, err := admin.Lag(ctx, c.Group, c.Topic)
		if err != nil {
			return 0, fmt.Errorf("%w: lag of %s: %w", ErrNotAtRest, c.Group, err)
		}
		total += lag
	}
	return total, nil
}

// excused collects the orders that a dead letter, open or discarded, or a parked row accounts for.
func (a *Auditor) excused(ctx context.Context) (audit.Excused, error) {
	excused := audit.Excused{}
	add := func(key string) {
		if id, err := uuid.Parse(key); err == nil {
			excused[id] = true
		}
	}
	for _, db := range []*database.SQLite{a.kitchen, a.establishment} {
		for _, state := range []ops.State{ops.Open, ops.Discarded} {
			if err := messagesql.NewDeadLetters(db).EachKey(ctx, state, add); err != nil {
				return nil, err
			}
		}
		if err := messagesql.NewOutbox(db).EachParkedKey(ctx, add); err != nil {
			return nil, err
		}
	}
	return excused, nil
}
