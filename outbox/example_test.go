package outbox_test

import (
	"context"
	"fmt"
	"log"

	"github.com/google/uuid"

	"kuhnya/outbox"
	"kuhnya/outbox/outboxtest"
)

// printer stands for a broker.
type printer struct{}

func (printer) Publish(_ context.Context, rows []outbox.Row) []error {
	for _, row := range rows {
		fmt.Printf("%s: %s\n", row.Topic, row.Payload)
	}
	return make([]error, len(rows)) // all acknowledged
}

// A business transaction appends what it decided; the relay publishes it once that has been committed.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	table := outboxtest.NewMemory() // a real service keeps the rows in its own database
	relay := outbox.NewRelay(outbox.RelayOptions{Store: table, Publisher: printer{}})
	ended := make(chan error)
	go func() { ended <- relay.Run(ctx) }()

	order := outbox.Message{EventID: uuid.New(), Topic: "orders", Key: "order 7", Payload: []byte("placed")}
	if err := outbox.Check(order, 1<<20); err != nil {
		log.Fatal(err)
	}
	if err := table.Append(ctx, order); err != nil {
		log.Fatal(err)
	}
	relay.Wake()

	if err := relay.Idle(ctx); err != nil {
		log.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	// Output: orders: placed
}
