package app

import (
	"context"
	"sync"
	"time"

	"kuhnya/internal/audit"
	"kuhnya/internal/obs"
)

// checkTimeout bounds a check of the invariants that a request asked for. It may outlast the request.
const checkTimeout = 5 * time.Minute

// check is the unit's violations for those who ask over HTTP; nil if it has none of its own. The database is read once
// for all who ask meanwhile. Whoever can't wait for the end asks again, and finds the same reading further on: so a large
// database is checked all the same, and impatient callers don't pile up readings.
func (u *unit) check() func(context.Context) ([]audit.Violation, error) {
	if u.violations == nil {
		return nil
	}
	var shared obs.Shared[[]audit.Violation]
	var checking sync.WaitGroup
	u.onStopClose(checking.Wait)
	return func(ctx context.Context) ([]audit.Violation, error) {
		return shared.Ask(ctx, func() ([]audit.Violation, error) {
			checking.Add(1)
			defer checking.Done()
			reading, cancel := context.WithTimeout(u.ctx, checkTimeout)
			defer cancel()
			return u.violations(reading)
		})
	}
}
