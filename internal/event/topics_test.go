package event

import (
	"strings"
	"testing"
)

func TestTopics_have_names_that_Kafka_allows(t *testing.T) {
	for prefix, legal := range map[string]bool{
		"": true, DefaultPrefix: true, "A-b_9.": true, strings.Repeat("x", maxPrefix): true,
		strings.Repeat("x", maxPrefix+1): false, "a b": false, "я": false, "../x": false, "a\n": false,
	} {
		topics := Topics{Prefix: prefix}
		if err := topics.Validate(); (err == nil) != legal {
			t.Errorf("%q: %v", prefix, err)
		}
		for _, c := range topics.Consumers() {
			if name := DeadLetterTopic(c.Topic, c.Group); legal && len(name) > 249 {
				t.Errorf("%d characters in %s", len(name), name)
			}
		}
	}
}
