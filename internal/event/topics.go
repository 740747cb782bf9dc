package event

import (
	"fmt"
	"regexp"
)

// Topics names what a deployment's services write to and read from. All names start with one prefix, so that several
// deployments can share a broker. The zero value has no prefix.
type Topics struct{ Prefix string }

// DefaultPrefix is the prefix of topics unless told otherwise.
const DefaultPrefix = "kuhnya."

// The consumer groups; each reads for the service of its name.
const (
	GroupKitchen       = "kitchen"
	GroupEstablishment = "establishment"
	GroupBonus         = "bonus"
)

// Consumer declares that a group reads a topic for good: nothing may be trimmed from the topic before the group has
// committed it, whether it runs at the moment or not.
type Consumer struct{ Topic, Group string }

var legalPrefix = regexp.MustCompile(`^[a-zA-Z0-9._-]*$`)

// maxPrefix leaves room for the longest derived name within the 249 characters that Kafka allows a topic.
const maxPrefix = 180

// Validate says what is wrong with the prefix, or nil.
func (t Topics) Validate() error {
	if !legalPrefix.MatchString(t.Prefix) || len(t.Prefix) > maxPrefix {
		return fmt.Errorf("topic prefix must have at most %d characters out of a-z, A-Z, 0-9, dot, dash and underscore", maxPrefix)
	}
	return nil
}

// Orders carries what becomes of orders; kitchen-service writes it.
func (t Topics) Orders() string { return t.Prefix + "orders" }

// EstablishmentStatuses carries the steps of the staff; establishment-service writes it.
func (t Topics) EstablishmentStatuses() string { return t.Prefix + "establishment-statuses" }

// Bonuses carries accruals; nobody here reads it.
func (t Topics) Bonuses() string { return t.Prefix + "bonuses" }

// DeadLetterTopic is where a group puts the records of a topic that it can't apply.
func DeadLetterTopic(topic, group string) string { return topic + "." + group + ".dlq" }

// Consumers lists which group reads which topic.
func (t Topics) Consumers() []Consumer {
	return []Consumer{
		{Topic: t.Orders(), Group: GroupEstablishment},
		{Topic: t.Orders(), Group: GroupBonus},
		{Topic: t.EstablishmentStatuses(), Group: GroupKitchen},
	}
}

// GroupsOf lists the declared groups of a topic.
func (t Topics) GroupsOf(topic string) (groups []string) {
	for _, c := range t.Consumers() {
		if c.Topic == topic {
			groups = append(groups, c.Group)
		}
	}
	return groups
}

// ReadBy lists the topics that a group reads.
func (t Topics) ReadBy(group string) (topics []string) {
	for _, c := range t.Consumers() {
		if c.Group == group {
			topics = append(topics, c.Topic)
		}
	}
	return topics
}
