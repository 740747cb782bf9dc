package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"kuhnya/idempotency"
	"kuhnya/internal/auth"
	"kuhnya/internal/broker"
	"kuhnya/internal/handbook"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/obs"
)

// App is a running process.
type App struct {
	config    Config
	listener  net.Listener
	messaging *messaging
	units     []*unit
	api       *httpapi.API
	server    *http.Server
	metrics   *obs.Metrics
	shown     *obs.Server // the metrics; nil if nobody asked for them
	failed    chan error  // the first that goes wrong for good
	ready     atomic.Bool
}

// Start brings up what the config asks for. It takes the port, looks at the databases and reaches the broker before it
// writes anything. ctx bounds the start only.
func Start(ctx context.Context, c Config) (*App, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	listener, err := c.listen()
	if err != nil {
		return nil, err
	}
	a := &App{config: c, listener: listener, messaging: &messaging{}, metrics: obs.New(c.Version), failed: make(chan error, 1)}
	if err := a.start(ctx); err != nil {
		return nil, errors.Join(err, a.abandon(ctx))
	}
	return a, nil
}

func (a *App) start(ctx context.Context) (err error) {
	if a.shown, err = obs.Listen(a.config.MetricsAddr, a.metrics, a.config.Log); err != nil {
		return err
	}
	if err := refuseNewer(a.config.Data, a.config.Services); err != nil {
		return err
	}
	if err := a.messaging.open(ctx, a.config); err != nil {
		return err
	}
	if err := os.MkdirAll(a.config.Data, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	key, err := auth.LoadOrCreateKey(a.config.Data)
	if err != nil {
		return fmt.Errorf("signing key: %w", err)
	}
	if err := a.openUnits(ctx); err != nil {
		return err
	}
	a.api = NewAPI(a.config, auth.NewVerifier(key))
	a.handleHealth()
	handbook.Register(a.api)
	a.measure()
	a.ready.Store(true)
	for _, u := range a.units {
		u.register(a.api)
		u.registerOps(a.api, a.messaging)
		u.start(a.fail)
	}
	a.serve()
	return nil
}

// openUnits makes the units. Each belongs to the app before it is complete, so that a failed start ends what it has.
func (a *App) openUnits(ctx context.Context) error {
	build := map[string]func(context.Context, *unit, Config, *messaging) error{
		Kitchen: buildKitchen, Establishment: buildEstablishment, Bonus: buildBonus,
	}
	for _, name := range a.config.Services {
		u := newUnit(name, a.config.Log)
		u.metrics = a.metrics.Service(name)
		a.units = append(a.units, u)
		if err := build[name](ctx, u, a.config, a.messaging); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// NewAPI returns an API without operations, set up as every process has it.
func NewAPI(c Config, verifier httpapi.Verifier) *httpapi.API {
	return httpapi.New(httpapi.Config{
		Title: "Kuhnya", Version: c.Version, Description: "Food ordering and loyalty in which every request may safely be sent again.",
		Verifier: verifier, ParseKey: parseKey, Transient: broker.Transient, Logger: c.Log,
	})
}

func parseKey(lines []string) (string, bool, error) {
	key, present, err := idempotency.ParseHeader(lines)
	return string(key), present, err
}

func (a *App) serve() {
	a.server = httpapi.NewServer(a.config.Addr, a.metrics.InFlight(a.api.Handler()))
	go func() {
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			a.fail(err)
		}
	}()
	go func() {
		if err := a.shown.Serve(); err != nil {
			a.fail(err)
		}
	}()
}

// fail reports what the process can't go on without. While it is being stopped anyway, that is for the log only.
func (a *App) fail(err error) {
	if a.ready.Load() {
		select {
		case a.failed <- err:
			return
		default:
		}
	}
	a.config.Log.Warn("not ended in order", "error", err)
}

// URL is where the API listens.
func (a *App) URL() string { return "http://" + a.listener.Addr().String() }

// MetricsURL is where the metrics are shown, "" if they aren't.
func (a *App) MetricsURL() string { return a.shown.URL() }

// KafkaAddr is where the embedded broker listens for other processes, "" if it doesn't.
func (a *App) KafkaAddr() string {
	if a.messaging.embedded == nil {
		return ""
	}
	return a.messaging.embedded.Addr()
}

// Failed receives an error if the process can't go on: it would take requests that it can't answer, or orders that it
// can't deliver. It is to be stopped then, and started again.
func (a *App) Failed() <-chan error { return a.failed }
