package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"kuhnya/internal/app"
)

type serveCmd struct {
	Services []string `arg:"" optional:"" name:"service" help:"kitchen, establishment, bonus; all if none is named. Naming only some needs --kafka-brokers."`
	serveFlags
}

// serveFlags are common to up and serve.
type serveFlags struct {
	dataFlag
	topicFlag
	logFlags
	Addr string `default:"127.0.0.1:8080" help:"Address of the HTTP API (${default})."`
	metricsFlag
	KafkaBrokers           []string      `placeholder:"HOST:PORT" help:"Brokers to use instead of the embedded one."`
	KafkaAddr              string        `placeholder:"HOST:PORT" help:"Loopback address on which the embedded broker listens too."`
	RepublishAfter         time.Duration `default:"5s" help:"Age at which unsent steps of tickets are sent without a press (${default})."`
	Auth                   string        `enum:"demo" default:"demo" help:"How callers sign in: demo."`
	AllowDemoAuthOnNetwork bool          `help:"Let demo auth listen on other addresses than loopback. Whoever reaches them can be anybody."`
}

func (f serveFlags) config(services []string) app.Config {
	if len(services) == 0 {
		services = app.Services
	}
	return app.Config{
		Services: services, Version: version, Data: f.Data, Addr: f.Addr, MetricsAddr: f.MetricsAddr,
		KafkaBrokers: f.KafkaBrokers, KafkaAddr: f.KafkaAddr, Topics: f.topics(), RepublishAfter: f.RepublishAfter,
		AllowDemoAuthOnNetwork: f.AllowDemoAuthOnNetwork, Log: f.logger(),
	}
}

// Run serves until a signal comes.
func (c *serveCmd) Run(ctx context.Context) error {
	return serve(ctx, c.config(c.Services), func(*app.App) {})
}

// serve runs a process from start to stop, and says when it is ready.
func serve(ctx context.Context, c app.Config, greet func(*app.App)) error {
	a, err := app.Start(ctx, c)
	if err != nil {
		return setup(err)
	}
	fmt.Fprintln(os.Stderr, readyLine(a))
	greet(a)
	select {
	case err = <-a.Failed():
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "kuhnya: stopping, once more to quit at once")
	}
	if stopErr := a.Stop(); err == nil {
		err = stopErr
	}
	return err
}

func readyLine(a *app.App) string {
	line := "kuhnya: ready on " + a.URL()
	if addr := a.KafkaAddr(); addr != "" {
		line += ", broker on " + addr
	}
	if url := a.MetricsURL(); url != "" {
		line += ", metrics on " + url
	}
	return line
}
