package app

import (
	"context"

	"kuhnya/internal/ops"
)

// measure has the metrics show what the parts of the process know.
func (a *App) measure() {
	a.api.Observe(a.metrics.Served)
	a.metrics.Disk(a.config.Data)
	if b := a.messaging.embedded; b != nil {
		a.metrics.Broker(b.Clients, b.Refused, b.CutOff)
	}
	for _, u := range a.units {
		u.measure(a.config.Data, a.messaging)
	}
}

func (u *unit) measure(data string, m *messaging) {
	u.metrics.Database(DatabasePath(data, u.name))
	u.metrics.Membership(u.consumer)
	u.metrics.Overview(func(ctx context.Context) (ops.Overview, error) { return u.overview(ctx, m) })
}
