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
	"kuhnya/internal/httpapi"
)

// App is a running process.
type App struct {
	config    Config
	listener  net.Listener
	messaging *messaging
	units     []*unit
	api       *httpapi.API
	server    *http.Server
	failed    chan error // of the HTTP server
	ready     atomic.Bool
}

// Start brings up what the config asks for. It takes the port and reaches the broker before it writes anything. ctx bounds the start only.
func Start(ctx context.Context, c Config) (*App, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	listener, err := c.listen()
	if err != nil {
		return nil, err
	}
	a := &App{config: c, listener: listener, failed: make(chan error, 1)}
	if err := a.start(ctx); err != nil {
		return nil, errors.Join(err, a.abandon(ctx))
	}
	return a, nil
}

func (a *App) start(ctx context.Context) (err error) {
	if a.messaging, err = openMessaging(ctx, a.config); err != nil {
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
	for _, u := range a.units {
		u.register(a.api)
		u.start(a.config.Log)
	}
	a.handleHealth()
	a.serve()
	return nil
}

func (a *App) openUnits(ctx context.Context) error {
	open := map[string]func(context.Context, Config, *messaging) (*unit, error){Kitchen: newKitchen, Establishment: newEstablishment}
	for _, name := range a.config.Services {
		u, err := open[name](ctx, a.config, a.messaging)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.units = append(a.units, u)
	}
	return nil
}

// NewAPI returns an API without operations, set up as every process has it.
func NewAPI(c Config, verifier httpapi.Verifier) *httpapi.API {
	return httpapi.New(httpapi.Config{
		Title: "Kuhnya", Version: c.Version, Description: "Food ordering in which every request may safely be sent again.",
		Verifier: verifier, ParseKey: parseKey, Transient: broker.Transient, Logger: c.Log,
	})
}

func parseKey(lines []string) (string, bool, error) {
	key, present, err := idempotency.ParseHeader(lines)
	return string(key), present, err
}

func (a *App) serve() {
	a.server = httpapi.NewServer(a.config.Addr, a.api.Handler())
	a.ready.Store(true)
	go func() {
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- err
		}
	}()
}

// URL is where the API listens.
func (a *App) URL() string { return "http://" + a.listener.Addr().String() }

// KafkaAddr is where the embedded broker listens for other processes, "" if it doesn't.
func (a *App) KafkaAddr() string {
	if a.messaging.embedded == nil {
		return ""
	}
	return a.messaging.embedded.Addr()
}

// Failed receives an error if the process can't serve any longer.
func (a *App) Failed() <-chan error { return a.failed }
