package consumetest

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Broker starts a Kafka broker in memory with these topics, and returns it with the options that reach it. It ends with
// the test. It opens no port, so a test may run it inside a [testing/synctest] bubble.
func Broker(t *testing.T, partitions int32, topics ...string) (*kfake.Cluster, []kgo.Opt) {
	t.Helper()
	var network kfake.VirtualNetwork
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.Ports(9092),
		kfake.ListenFn(network.Listen),
		kfake.SeedTopics(partitions, topics...),
	)
	if err != nil {
		t.Fatalf("start broker: %v", err)
	}
	t.Cleanup(cluster.Close)
	return cluster, []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.Dialer(network.DialContext)}
}
