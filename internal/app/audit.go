package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"kuhnya/internal/audit"
	"kuhnya/internal/bonus/bonussql"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/event"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/ops"
	"kuhnya/internal/opsclient"
	"kuhnya/outbox"
)

// ErrNotAtRest says that the services can't be compared now.
var ErrNotAtRest = errors.New("not at rest")

// Auditor checks the databases of a data folder, whether processes are running on them or not. It creates nothing there
// and changes nothing that anybody could tell.
type Auditor struct {
	Data         string
	KafkaBrokers []string // empty: the broker folder in Data is opened, or processes are asked if somebody has it
	Topics       event.Topics
	Client       func() (*opsclient.Client, error) // of the processes that run on Data

	databases map[string]*database.SQLite // by service
}

// Open opens the databases that are there. Those of the needed services must be: all for [Auditor.AtRest]. If none is
// needed, one that has something for [Auditor.Live] must be. Each must have exactly this program's schema.
func (a *Auditor) Open(needed ...string) error {
	a.databases = map[string]*database.SQLite{}
	for _, service := range Services {
		db, err := openExisting(a.Data, service)
		if errors.Is(err, errNoDatabase) && !slices.Contains(needed, service) {
			continue
		}
		if err != nil {
			return errors.Join(err, a.Close())
		}
		a.databases[service] = db
	}
	if len(a.checks()) == 0 {
		return errors.Join(fmt.Errorf("%w of %s or %s in %s; is --data right?", errNoDatabase, Kitchen, Bonus, a.Data), a.Close())
	}
	return nil
}

// Close closes the databases.
func (a *Auditor) Close() (err error) {
	for _, db := range a.databases {
		err = errors.Join(err, db.Close())
	}
	return err
}

// Databases lists the services whose databases are checked.
func (a *Auditor) Databases() (names []string) {
	for _, service := range Services {
		if a.databases[service] != nil {
			names = append(names, service)
		}
	}
	return names
}

// Live checks what must hold at every moment, one snapshot for each database.
func (a *Auditor) Live(ctx context.Context) (violations []audit.Violation, err error) {
	for _, check := range a.checks() {
		found, err := check(ctx)
		if err != nil {
			return nil, err
		}
		violations = append(violations, found...)
	}
	return violations, nil
}

// checks are those of the databases that are there. What establishment has of its own may be behind kitchen, and ahead.
func (a *Auditor) checks() (checks []func(context.Context) ([]audit.Violation, error)) {
	if a.databases[Kitchen] != nil {
		checks = append(checks, a.kitchen().Violations)
	}
	if a.databases[Bonus] != nil {
		checks = append(checks, a.bonus().Violations)
	}
	return checks
}

// Parked lists the outbox rows that could not be published.
func (a *Auditor) Parked(ctx context.Context) (rows []audit.Parked, err error) {
	for _, service := range a.Databases() {
		err := messagesql.NewOutbox(a.databases[service]).EachParked(ctx, func(r outbox.Row, reason string) {
			rows = append(rows, audit.Parked{Database: service, ID: r.ID, Key: r.Key, Reason: reason})
		})
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// AtRest checks what must hold when nothing is on its way. If something is, or moves while it looks, or nobody can tell,
// the error is [ErrNotAtRest].
//
// It never takes what is on its way for a violation. The steps below happen one after the other:
//
//	1  for each group in turn, the ends of the logs that it reads, and that it has committed all up to there
//	2  kitchen's progress, then establishment's, then bonus's: no row waits in an outbox, no step is unsent
//	3  the facts
//	4  kitchen's progress, then establishment's, then bonus's: the same as in 2
//	5  for each group in turn, the ends of the logs that it reads: the same as in 1
//
// Progress that is equal twice means that nothing moved in between (see the three types Progress and the one of
// messages). So each service stood still from its look in 2 to its look in 4; from the last look in 2 to the first one
// in 4 all three stood still together, and within that time lies 3: what it read, in however many snapshots, is one state
// of them all. The logs that a group reads stood still from their look in 1 to their look in 5, which is around all of
// that, and what it had committed in 1 it has committed since. A group commits a record only after its effect, or its
// dead letter, is in the database; so in that state every record ever written to a log that a group reads had been dealt
// with by that group. What was not a record yet would have been a waiting row or an unsent step: both are deleted or
// marked only after the broker acknowledged the record, and there was none. A record that is sent or delivered once more
// then, by a stale relay or a pressed button, repeats one that was dealt with.
//
// Whether a broker tells of the logs, or a process that asks it, makes no difference: what is told was so at some time
// between the question and the answer.
func (a *Auditor) AtRest(ctx context.Context) (violations []audit.Violation, err error) {
	logs, err := a.openLogs(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, logs.close(ctx)) }()
	ends, unread, err := a.unread(ctx, logs)
	if err != nil {
		return nil, err
	}
	before, err := a.progress(ctx)
	if err != nil {
		return nil, err
	}
	if err := before.mustRest(unread); err != nil {
		return nil, err
	}
	if err := a.mustBePublished(ctx, logs, before.orders.Last); err != nil {
		return nil, err
	}
	if violations, err = a.compare(ctx); err != nil {
		return nil, err
	}
	if err := a.mustNotHaveMoved(ctx, logs, before, ends); err != nil {
		return nil, err
	}
	return violations, nil
}

func (a *Auditor) mustNotHaveMoved(ctx context.Context, logs logs, before progress, ends map[place]int64) error {
	after, err := a.progress(ctx)
	if err != nil {
		return err
	}
	endsAfter, _, err := a.unread(ctx, logs)
	if err != nil {
		return err
	}
	if before != after || !maps.Equal(ends, endsAfter) {
		return fmt.Errorf("%w: something moved during the comparison", ErrNotAtRest)
	}
	return nil
}

// compare reads the facts and compares them.
func (a *Auditor) compare(ctx context.Context) ([]audit.Violation, error) {
	excused, err := a.excused(ctx)
	if err != nil {
		return nil, err
	}
	return audit.Compare(audit.Facts{
		Orders: a.kitchen().AuditOrders(ctx), Tickets: a.establishment().AuditTickets(ctx),
		Evaluations: a.bonus().AuditEvaluations(ctx), Earnings: a.bonus().AuditEarnings(ctx),
		Excused: excused,
	})
}

// excused collects the orders that a dead letter, open or discarded, or a parked row accounts for.
func (a *Auditor) excused(ctx context.Context) (audit.Excused, error) {
	excused := audit.Excused{}
	add := func(key string) {
		if id, err := uuid.Parse(key); err == nil {
			excused[id] = true
		}
	}
	for _, db := range a.databases {
		for _, state := range []ops.State{ops.Open, ops.Discarded} {
			if err := messagesql.NewDeadLetters(db).EachKey(ctx, state, add); err != nil {
				return nil, err
			}
		}
		if err := messagesql.NewOutbox(db).EachParked(ctx, func(r outbox.Row, _ string) { add(r.Key) }); err != nil {
			return nil, err
		}
	}
	return excused, nil
}

func (a *Auditor) kitchen() kitchensql.SQLite {
	return kitchensql.NewSQLite(a.databases[Kitchen])
}

func (a *Auditor) establishment() establishmentsql.SQLite {
	return establishmentsql.NewSQLite(a.databases[Establishment])
}

func (a *Auditor) bonus() bonussql.SQLite {
	return bonussql.NewSQLite(a.databases[Bonus])
}
