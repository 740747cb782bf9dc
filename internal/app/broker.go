package app

import (
	"context"
	"errors"

	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/obs"
)

// Broker is the embedded broker running alone, for services in other processes.
type Broker struct {
	*embedded.Broker
	shown  *obs.Server // the metrics; nil if nobody asked for them
	failed chan error
}

// StartBroker opens the broker of a data folder and shows its metrics. After an error nothing is left running.
func StartBroker(ctx context.Context, c Config) (*Broker, error) {
	metrics := obs.New(c.Version)
	shown, err := obs.Listen(c.MetricsAddr, metrics, c.Log)
	if err != nil {
		return nil, err
	}
	b := &Broker{shown: shown, failed: make(chan error, 1)}
	if b.Broker, err = OpenBroker(ctx, c.Data, c.KafkaAddr, c.Topics, c.Log); err != nil {
		return nil, errors.Join(err, shown.Close(ctx))
	}
	metrics.Disk(c.Data)
	metrics.Broker(b.Clients, b.Refused, b.CutOff)
	go func() {
		if err := shown.Serve(); err != nil {
			b.failed <- err
		}
	}()
	return b, nil
}

// MetricsURL is where the metrics are shown, "" if they aren't.
func (b *Broker) MetricsURL() string { return b.shown.URL() }

// Failed receives an error if the process can't go on.
func (b *Broker) Failed() <-chan error { return b.failed }

// Stop ends the broker in order.
func (b *Broker) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), ClosingTimeout)
	defer cancel()
	return errors.Join(b.shown.Close(ctx), b.Close(ctx))
}
