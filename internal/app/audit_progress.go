package app

import (
	"context"
	"fmt"

	"kuhnya/internal/audit"
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
}

// progress looks at kitchen first and at establishment afterwards, each time.
func (a *Auditor) progress(ctx context.Context) (p progress, err error) {
	if p.orders, err = a.kitchen().AuditProgress(ctx); err != nil {
		return p, err
	}
	if p.ordersMessages, err = messagesql.ReadProgress(ctx, a.databases[Kitchen]); err != nil {
		return p, err
	}
	if p.tickets, err = a.establishment().AuditProgress(ctx); err != nil {
		return p, err
	}
	p.ticketsMessages, err = messagesql.ReadProgress(ctx, a.databases[Establishment])
	return p, err
}

func (p progress) mustRest(unread int64) error {
	rest := audit.Rest{Outbox: p.ordersMessages.Waiting + p.ticketsMessages.Waiting, Steps: p.tickets.Unsent, Lag: unread}
	if unrest := rest.Unrest(); unrest != "" {
		return fmt.Errorf("%w: %s", ErrNotAtRest, unrest)
	}
	return nil
}
