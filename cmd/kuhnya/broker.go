package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kuhnya/internal/app"
)

type brokerCmd struct {
	dataFlag
	topicFlag
	logFlags
	metricsFlag
	KafkaAddr string `default:"127.0.0.1:9092" placeholder:"HOST:PORT" help:"Loopback address to listen on (${default})."`
}

// Run serves the embedded broker until a signal comes.
func (c *brokerCmd) Run(ctx context.Context) error {
	b, err := app.StartBroker(ctx, app.Config{
		Version: version, Data: c.Data, KafkaAddr: c.KafkaAddr, MetricsAddr: c.MetricsAddr, Topics: c.topics(), Log: c.logger(),
	})
	if err != nil {
		return setup(err)
	}
	fmt.Fprintln(os.Stderr, brokerReadyLine(b))
	select {
	case err = <-b.Failed():
	case <-ctx.Done():
	}
	return errors.Join(err, b.Stop())
}

func brokerReadyLine(b *app.Broker) string {
	line := "kuhnya: broker ready on " + b.Addr()
	if url := b.MetricsURL(); url != "" {
		line += ", metrics on " + url
	}
	return line
}
