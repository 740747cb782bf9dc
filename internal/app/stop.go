package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	drainTimeout = 10 * time.Second
	// Clients get this share of it: one that never finishes its request must not take the time of what was asked before.
	requestTimeout = 5 * time.Second
	idleInterval   = 20 * time.Millisecond

	// The embedded broker's share of ClosingTimeout: however the units end, it is to close in order.
	brokerTimeout = 750 * time.Millisecond
)

// ClosingTimeout bounds the end of a process, after everything in flight was finished or given up.
const ClosingTimeout = 3 * time.Second

// Stop ends the process in order. It stops being ready, ends streams and answers what was asked; relays and consumers
// go on until everything is sent and read, for 10 s in all; then consumers commit and leave, rules and relays finish,
// and databases and broker close, for 3 s. What was not finished by then is repeated after the next start, and is no
// error.
func (a *App) Stop() error {
	a.ready.Store(false)
	a.api.CloseStreams()
	draining, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := a.endRequests(draining)
	if !a.drain(draining) {
		a.config.Log.Warn("stopping with work left; it is finished after the next start")
	}
	closing, cancel := context.WithTimeout(context.Background(), ClosingTimeout)
	defer cancel()
	return errors.Join(err, a.close(closing))
}

// endRequests answers what was asked, and cuts off those who have not finished asking by the end of their time.
func (a *App) endRequests(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := a.server.Shutdown(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	a.config.Log.Warn("cutting off requests that don't end")
	return a.server.Close()
}

// drain waits until all units are idle at once: what one sends another may have to answer. What passes from one to the
// other while they are asked is found when they are asked again.
func (a *App) drain(ctx context.Context) bool {
	for found := 0; found < 2; {
		if a.idle(ctx) {
			found++
			continue
		}
		found = 0
		select {
		case <-ctx.Done():
			return false
		case <-time.After(idleInterval):
		}
	}
	return true
}

func (a *App) idle(ctx context.Context) bool {
	for _, u := range a.units {
		if !u.idle(ctx, a.messaging) {
			return false
		}
	}
	return true
}

// close ends the units and who looks at them, and the broker last: they commit to it.
func (a *App) close(ctx context.Context) error {
	hidden := make(chan error, 1)
	go func() { hidden <- a.shown.Close(ctx) }()
	err := errors.Join(a.stopUnits(ctx), <-hidden)
	return errors.Join(err, within(ctx, "messaging", a.messaging.close))
}

// stopUnits ends the units side by side, early enough to leave the broker its time.
func (a *App) stopUnits(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ClosingTimeout-brokerTimeout)
	defer cancel()
	stopped := make(chan error, len(a.units))
	for _, u := range a.units {
		go func() { stopped <- within(ctx, u.name, u.stop) }()
	}
	var err error
	for range a.units {
		err = errors.Join(err, <-stopped)
	}
	return err
}

// within runs stop and waits for it until ctx ends. It then goes on in its order, for as long as the process lasts.
func within(ctx context.Context, what string, stop func(context.Context) error) error {
	stopped := make(chan error, 1)
	go func() { stopped <- stop(ctx) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", what, ctx.Err())
	}
}

// abandon undoes a start that failed.
func (a *App) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ClosingTimeout)
	defer cancel()
	return errors.Join(a.listener.Close(), a.close(ctx))
}
