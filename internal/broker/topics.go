package broker

import "slices"

// DefaultPrefix stands in front of every topic name unless the operator chose another.
const DefaultPrefix = "kuhnya."

// DefaultPartitions is the number of partitions of a topic that [EnsureTopics] creates. More of them cost the embedded
// broker one more synchronous write each per batch, fewer leave cores of consumers idle.
const DefaultPartitions = 4

// Group is the name of a consumer group.
type Group = string

// The consumer groups, one for each service.
const (
	GroupKitchen       Group = "kitchen"
	GroupEstablishment Group = "establishment"
	GroupBonus         Group = "bonus"
)

// Topics names the topics of one installation; several can share a broker under different prefixes. The zero value has
// no prefix.
type Topics struct{ Prefix string }

// Consumer declares that a group reads a topic.
type Consumer struct {
	Topic string
	Group Group
}

// TopicSpec describes a topic that must exist.
type TopicSpec struct {
	Name         string
	Partitions   int32  // 0 means DefaultPartitions
	DeadLetterOf string // the topic whose records end here, "" for a topic of its own
}

// Orders carries everything that happens to an order, published by kitchen.
func (t Topics) Orders() string { return t.Prefix + "orders" }

// EstablishmentStatuses carries what staff decided, published by establishment.
func (t Topics) EstablishmentStatuses() string { return t.Prefix + "establishment-statuses" }

// Bonuses carries accrued bonuses, published by bonus and read by nobody here.
func (t Topics) Bonuses() string { return t.Prefix + "bonuses" }

// DeadLetterTopic names the topic for the records of a topic that a group could not process.
func DeadLetterTopic(topic string, group Group) string { return topic + "." + group + ".dlq" }

// Consumers lists which group reads which topic.
func (t Topics) Consumers() []Consumer {
	return []Consumer{
		{Topic: t.Orders(), Group: GroupEstablishment},
		{Topic: t.Orders(), Group: GroupBonus},
		{Topic: t.EstablishmentStatuses(), Group: GroupKitchen},
	}
}

// GroupsOf lists the declared groups of a topic.
func (t Topics) GroupsOf(topic string) []Group {
	var groups []Group
	for _, c := range t.Consumers() {
		if c.Topic == topic {
			groups = append(groups, c.Group)
		}
	}
	return groups
}

// ReadBy lists the topics that a group reads.
func (t Topics) ReadBy(group Group) []string {
	var topics []string
	for _, c := range t.Consumers() {
		if c.Group == group {
			topics = append(topics, c.Topic)
		}
	}
	return topics
}

// Specs lists every topic of the installation, sources before their dead letters.
func (t Topics) Specs() []TopicSpec {
	specs := []TopicSpec{{Name: t.Orders()}, {Name: t.EstablishmentStatuses()}, {Name: t.Bonuses()}}
	for _, c := range t.Consumers() {
		specs = append(specs, TopicSpec{Name: DeadLetterTopic(c.Topic, c.Group), DeadLetterOf: c.Topic})
	}
	return slices.Clip(specs)
}
