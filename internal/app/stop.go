package app

import (
	"context"
	"errors"
	"time"
)

const (
	drainTimeout = 10 * time.Second
	idleInterval = 20 * time.Millisecond
)

// Stop ends the process in order. It stops being ready, ends streams and answers what was asked; relays and consumers
// go on until everything is sent and read, for 10 s in all; then consumers commit and leave, rules and relays finish,
// and databases and broker close, for 3 s. What was not finished by then is repeated after the next start.
func (a *App) Stop() error {
	a.ready.Store(false)
	a.api.CloseStreams()
	draining, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := a.server.Shutdown(draining)
	if !a.drain(draining) {
		a.config.Log.Warn("stopping with work left; it is finished after the next start")
	}
	closing, cancel := context.WithTimeout(context.Background(), ClosingTimeout)
	defer cancel()
	return errors.Join(err, a.close(closing))
}

// drain waits until all units are idle at once: what one sends another may have to answer.
func (a *App) drain(ctx context.Context) bool {
	for !a.idle(ctx) {
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

// close ends the units side by side, and the broker last: they commit to it.
func (a *App) close(ctx context.Context) error {
	stopped := make(chan error, len(a.units))
	for _, u := range a.units {
		go func() { stopped <- u.stop(ctx) }()
	}
	var err error
	for range a.units {
		err = errors.Join(err, <-stopped)
	}
	if a.messaging != nil {
		err = errors.Join(err, a.messaging.close(ctx))
	}
	return err
}

// abandon undoes a start that failed.
func (a *App) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ClosingTimeout)
	defer cancel()
	return errors.Join(a.listener.Close(), a.close(ctx))
}
