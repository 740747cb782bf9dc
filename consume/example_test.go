package consume_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/consume"
	"kuhnya/consume/consumetest"
)

// errMalformed is an error that no second try will mend.
var errMalformed = errors.New("not a JSON document")

// Three records, of which the second can't be read: it becomes a dead letter, and the third is handled all the same.
func Example() {
	var network kfake.VirtualNetwork
	cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.Ports(9092), kfake.ListenFn(network.Listen),
		kfake.SeedTopics(1, "orders", "orders.bonus.dlq"))
	defer cluster.Close()
	broker := []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.Dialer(network.DialContext)}

	ctx, stop := context.WithCancel(context.Background())
	store := new(consumetest.Memory)
	consumer, err := consume.New(consume.Options{
		Group: "bonus", Topics: []string{"orders"}, ClientOptions: broker, DeadLetterOptions: broker,
		Handler: func(_ context.Context, records []*kgo.Record) []error {
			results := make([]error, len(records))
			for i, r := range records {
				if !json.Valid(r.Value) {
					results[i] = errMalformed
					continue
				}
				fmt.Printf("%d: %s\n", r.Offset, r.Value)
			}
			return results
		},
		Classify: func(err error) (consume.Class, string) {
			if errors.Is(err, errMalformed) {
				return consume.Domain, "invalid_request"
			}
			return consume.Transient, ""
		},
		DeadLetters: store,
		Events: consume.Events{Committed: func(_ consume.Partition, next int64) {
			if next == 3 {
				stop()
			}
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	producer, _ := kgo.NewClient(append(broker, kgo.DefaultProduceTopic("orders"))...)
	defer producer.Close()
	producer.ProduceSync(ctx, kgo.StringRecord(`{"order":1}`), kgo.StringRecord(`{`), kgo.StringRecord(`{"order":2}`))

	_ = consumer.Run(ctx)
	letters, _ := store.List(context.Background())
	for _, d := range letters {
		fmt.Printf("dead: %s/%d at %d: %s: %s\n", d.Topic, d.Partition, d.Offset, d.ErrorCode, d.ErrorMessage)
	}
	// Output:
	// 0: {"order":1}
	// 2: {"order":2}
	// dead: orders/0 at 1: invalid_request: not a JSON document
}
