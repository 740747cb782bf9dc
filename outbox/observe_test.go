package outbox_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kuhnya/outbox"
)

func TestRelayObserver(t *testing.T) {
	play(t, map[string]func(scene){"is_told_what_happens": func(s scene) {
		add(s.T, s.table, msg("a", "1"), msg("b", "2"), msg("c", "3"))
		s.broker.refuse = func(row outbox.Row) error {
			return map[string]error{"b": errAway, "c": errors.Join(outbox.ErrUnpublishable)}[row.Key]
		}
		var told []string
		tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
		o := s.options()
		o.Observe = outbox.Observer{
			Leased: func(held bool) { tell("leased %v", held) },
			Published: func(acknowledged, failed int, took time.Duration) {
				tell("published %d %d %v", acknowledged, failed, took)
			},
			Parked: func(row outbox.Row, reason string) { tell("parked %s: %s", row.Payload, reason) },
		}
		relay := start(s.T, o)
		after(0)
		relay.end(s.T)
		want := []string{"leased true", "published 1 1 0s", "parked 3: unpublishable message", "leased false"}
		if diff := cmp.Diff(want, told); diff != "" {
			s.Errorf("told (-want +got):\n%s", diff)
		}
	}})
}
