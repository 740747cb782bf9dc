package outbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"kuhnya/outbox"
)

func TestRelayParks(t *testing.T) {
	play(t, map[string]func(scene){
		"one_row_among_a_hundred": func(s scene) {
			for i := range 101 {
				payload := "x"
				if i == 50 {
					payload = strings.Repeat("x", 2<<20)
				}
				add(s.T, s.table, msg(fmt.Sprint("k", i%3), payload))
			}
			s.broker.refuse = func(row outbox.Row) error {
				if err := outbox.Check(row.Message, 1<<20); err != nil {
					return fmt.Errorf("%w: %w", outbox.ErrUnpublishable, err)
				}
				return nil
			}
			start(s.T, s.options())
			after(0)
			s.wantDepth(outbox.Depth{Parked: 1})
			if n := len(s.broker.got()); n != 100 {
				s.Errorf("%d rows published, want 100", n)
			}
			parked, _ := s.table.Parked(s.Context())
			if !strings.Contains(parked[0].Reason, "limit 1048576") {
				s.Errorf("parked because of %q, want the limit named", parked[0].Reason)
			}
		},
		"with_a_reason_that_any_database_can_store": func(s scene) {
			add(s.T, s.table, msg("a", "1"))
			s.broker.refuse = func(outbox.Row) error {
				return fmt.Errorf("x\x00\xff%s: %w", strings.Repeat("ё", 500), outbox.ErrUnpublishable)
			}
			start(s.T, s.options())
			after(0)
			parked, _ := s.table.Parked(s.Context())
			reason := parked[0].Reason
			if len(reason) < 500 || len(reason) > 512 || !utf8.ValidString(reason) || strings.Contains(reason, "\x00") {
				s.Errorf("reason of %d bytes %q, want up to 512 bytes of text", len(reason), reason)
			}
		},
		"later_when_the_store_refuses_now": func(s scene) {
			add(s.T, s.table, msg("bad", "bad"), msg("bad", "next"), msg("a", "1"))
			s.broker.refuse = func(row outbox.Row) error {
				if string(row.Payload) == "bad" {
					return outbox.ErrUnpublishable
				}
				return nil
			}
			tries := 0
			s.store.set(func(op string) error {
				if op == "park" {
					tries++
					return errors.New("disk full")
				}
				return nil
			})
			start(s.T, s.options())
			after(time.Minute)
			s.wantDepth(outbox.Depth{Waiting: 1})
			if tries < 15 || tries > 45 {
				s.Errorf("%d tries to park in a minute, want one every 1 to 4 s", tries)
			}
			s.store.set(nil)
			after(4 * time.Second)
			s.wantDepth(outbox.Depth{Parked: 1})
			s.wantSent("next", "1")
		},
	})
}
