package app

import (
	"context"
	"fmt"

	"kuhnya/internal/audit"
	"kuhnya/internal/bonus/bonussql"
	"kuhnya/internal/database"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/establishment/establishmentsql"
	"kuhnya/internal/kitchen/kitchensql"
)

// progress is what changes in the databases whenever anything changes there that a comparison is about. The lease of a
// relay, which is renewed each second, is not.
type progress struct {
	orders          kitchensql.Progress
	ordersMessages  messagesql.Progress
	tickets         establishmentsql.Progress
	ticketsMessages messagesql.Progress
	bonuses         bonussql.Progress
	bonusesMessages messagesql.Progress
}

// progress looks at kitchen first, at establishment next and at bonus last, each time.
func (a *Auditor) progress(ctx context.Context) (p progress, err error) {
	if p.orders, p.ordersMessages, err = look(ctx, a.databases[Kitchen], a.kitchen().AuditProgress); err != nil {
		return p, err
	}
	if p.tickets, p.ticketsMessages, err = look(ctx, a.databases[Establishment], a.establishment().AuditProgress); err != nil {
		return p, err
	}
	p.bonuses, p.bonusesMessages, err = look(ctx, a.databases[Bonus], a.bonus().AuditProgress)
	return p, err
}

func look[P any](ctx context.Context, db *database.SQLite, own func(context.Context) (P, error)) (p P, m messagesql.Progress, err error) {
	if p, err = own(ctx); err != nil {
		return p, m, err
	}
	m, err = messagesql.ReadProgress(ctx, db)
	return p, m, err
}

func (p progress) mustRest(unread int64) error {
	rest := audit.Rest{
		Outbox: p.ordersMessages.Waiting + p.ticketsMessages.Waiting + p.bonusesMessages.Waiting, Steps: p.tickets.Unsent, Lag: unread,
	}
	if unrest := rest.Unrest(); unrest != "" {
		return fmt.Errorf("%w: %s", ErrNotAtRest, unrest)
	}
	return nil
}
