package broker

import "kuhnya/internal/event"

// DefaultPartitions is the number of partitions of a topic that [EnsureTopics] creates. More of them cost the embedded
// broker one more synchronous write each per batch, fewer leave cores of consumers idle.
const DefaultPartitions = 4

// TopicSpec describes a topic that must exist.
type TopicSpec struct {
	Name         string
	Partitions   int32  // 0 means DefaultPartitions
	DeadLetterOf string // the topic whose records end here, "" for a topic of its own
}

// Specs lists every topic of a deployment, sources before their dead letters.
func Specs(t event.Topics) []TopicSpec {
	specs := []TopicSpec{{Name: t.Orders()}, {Name: t.EstablishmentStatuses()}, {Name: t.Bonuses()}}
	for _, c := range t.Consumers() {
		specs = append(specs, TopicSpec{Name: event.DeadLetterTopic(c.Topic, c.Group), DeadLetterOf: c.Topic})
	}
	return specs
}
