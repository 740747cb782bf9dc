package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"kuhnya/internal/audit"
)

// TestCheck_outlasts_who_asked: a database that is read for longer than a request lasts is read once, and whoever asks
// again meanwhile gets the result.
func TestCheck_outlasts_who_asked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, readings := newUnit("kitchen", slog.New(slog.DiscardHandler)), 0
		defer u.halt()
		u.violations = func(ctx context.Context) ([]audit.Violation, error) {
			readings++
			select {
			case <-time.After(55 * time.Second):
				return []audit.Violation{{Invariant: audit.Stock}}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		check := u.check()
		ask := func() ([]audit.Violation, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			return check(ctx)
		}
		for range 5 {
			if _, err := ask(); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("error %v", err)
			}
		}
		if found, err := ask(); err != nil || len(found) != 1 || readings != 1 {
			t.Errorf("%v, %v after %d readings", found, err, readings)
		}
	})
}

func TestCheck_ends_with_its_unit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUnit("kitchen", slog.New(slog.DiscardHandler))
		u.violations = func(ctx context.Context) ([]audit.Violation, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		check := u.check()
		go func() { _, _ = check(t.Context()) }()
		synctest.Wait()
		began := time.Now()
		if err := u.stop(t.Context()); err != nil || time.Since(began) > 0 {
			t.Errorf("stopped after %s: %v", time.Since(began), err)
		}
	})
}
