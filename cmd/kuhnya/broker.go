package main

import (
	"context"
	"fmt"
	"os"

	"kuhnya/internal/app"
)

type brokerCmd struct {
	dataFlag
	topicFlag
	logFlags
	KafkaAddr string `default:"127.0.0.1:9092" placeholder:"HOST:PORT" help:"Loopback address to listen on (${default})."`
}

// Run serves the embedded broker until a signal comes.
func (c *brokerCmd) Run(ctx context.Context) error {
	broker, err := app.OpenBroker(ctx, c.Data, c.KafkaAddr, c.topics(), c.logger())
	if err != nil {
		return setup(err)
	}
	fmt.Fprintln(os.Stderr, "kuhnya: broker ready on", broker.Addr())
	<-ctx.Done()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), app.ClosingTimeout)
	defer cancel()
	return broker.Close(closing)
}
