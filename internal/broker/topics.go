package broker

import "kuhnya/internal/event"

// DefaultPartitions is the number of partitions that topics are created with unless told otherwise. More of them cost
// the embedded broker one more synchronous write each per batch, fewer leave cores of consumers idle.
const DefaultPartitions = 4

// TopicNames lists every topic of a deployment, sources before their dead letters.
func TopicNames(t event.Topics) []string {
	names := []string{t.Orders(), t.EstablishmentStatuses(), t.Bonuses()}
	for _, c := range t.Consumers() {
		names = append(names, event.DeadLetterTopic(c.Topic, c.Group))
	}
	return names
}
