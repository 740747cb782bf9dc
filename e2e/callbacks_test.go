package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestCallbacks(t *testing.T) {
	keep(t,
		promise{"duplicates are counted, also after the order has moved on", callbackDuplicates},
		promise{"accepted after cancelled changes nothing", callbackAfterEnd},
		promise{"a status of an unknown order or of another place's order is not found", callbackNotFound},
		promise{"a keyless report over HTTP takes the key of the callback that repeats it", callbackTakesKey},
		promise{"a report under another key is absorbed", callbackOtherKey},
		promise{"one key for two statuses is refused", callbackKeyReused},
		promise{"a callback without any header is applied", callbackBare},
		promise{"a callback to placed or to an unknown status is invalid", callbackStatusInvalid},
	)
}

// stage is a venue with an order of 7 portions out of 100, and a way to report on it by Kafka.
type stage struct {
	*venue
	bus bus
	id  string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	return &stage{v, v.bus(t), v.placed(t, v.portions(0, 7)).ID}
}

// say reports a status by Kafka under the key that the establishment would give it.
func (s *stage) say(t *testing.T, status string) {
	t.Helper()
	s.bus.report(t, s.venue, s.id+":"+status, s.id, status)
}

func (s *stage) wantDeadLetters(t *testing.T, id string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), s.bus.deadLetters(t, id)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

func callbackDuplicates(t *testing.T) {
	s := newStage(t)
	for range 5 {
		s.say(t, "accepted")
	}
	s.say(t, "cooking")
	s.say(t, "accepted")
	s.wantDeadLetters(t, s.id)
	s.wantHistory(t, s.id, "placed accepted×6 cooking")
	s.awaitTicketStatus(t, s.id, "cooking")
}

func callbackAfterEnd(t *testing.T) {
	s := newStage(t)
	s.alice.cancel(t, s.id).want(t, 200)
	s.say(t, "accepted")
	s.wantDeadLetters(t, s.id, "invalid_transition")
	s.robot.report(t, "", s.id, "accepted").wantProblem(t, 409, "invalid_transition")
	s.robot.report(t, newKey(), s.id, "accepted").wantProblem(t, 409, "invalid_transition")
	s.wantHistory(t, s.id, "placed cancelled")
	s.wantStock(t, 0, 100)
}

func callbackNotFound(t *testing.T) {
	s := newStage(t)
	unknown, other := uuid.NewString(), openVenue(t, s.site, counted("khinkali", 1))
	s.bus.report(t, s.venue, "", unknown, "accepted")
	s.wantDeadLetters(t, unknown, "not_found")
	s.robot.report(t, "", unknown, "accepted").wantProblem(t, 404, "not_found")
	s.bus.report(t, other, "", s.id, "accepted")
	s.wantDeadLetters(t, s.id, "not_found")
	other.cook.report(t, "", s.id, "accepted").wantProblem(t, 404, "not_found")
	s.wantHistory(t, s.id, "placed")
}

func callbackTakesKey(t *testing.T) {
	s := newStage(t)
	s.robot.report(t, "", s.id, "accepted").want(t, 200)
	s.say(t, "accepted")
	s.say(t, "cooking")
	s.say(t, "accepted")
	s.wantDeadLetters(t, s.id)
	s.wantHistory(t, s.id, "placed accepted×3 cooking")
	if key := s.alice.events(t, s.id)[1].IdempotencyKey; key == nil || *key != s.id+":accepted" {
		t.Errorf("key of the event is %v", key)
	}
}

func callbackOtherKey(t *testing.T) {
	s := newStage(t)
	key := newKey()
	s.cook.report(t, key, s.id, "accepted").want(t, 200)
	s.say(t, "accepted")
	s.say(t, "cooking")
	s.say(t, "accepted")
	s.wantDeadLetters(t, s.id)
	s.cook.report(t, key, s.id, "accepted").want(t, 200)
	s.wantHistory(t, s.id, "placed accepted×4 cooking")
	if got := s.alice.events(t, s.id)[1].IdempotencyKey; got == nil || *got != key {
		t.Errorf("key of the event is %v, want %s", got, key)
	}
}

func callbackKeyReused(t *testing.T) {
	s := newStage(t)
	key := newKey()
	s.robot.report(t, key, s.id, "accepted").want(t, 200)
	s.robot.report(t, key, s.id, "cooking").wantProblem(t, 422, "idempotency_key_reused")
	s.bus.report(t, s.venue, key, s.id, "cooking")
	s.wantDeadLetters(t, s.id, "idempotency_key_reused")
	s.wantHistory(t, s.id, "placed accepted")
}

func callbackBare(t *testing.T) {
	s := newStage(t)
	s.bus.report(t, s.venue, "", s.id, "accepted")
	s.say(t, "accepted")
	s.wantDeadLetters(t, s.id)
	s.wantHistory(t, s.id, "placed accepted×2")
}

func callbackStatusInvalid(t *testing.T) {
	s := newStage(t)
	for _, status := range []string{"placed", "eaten", ""} {
		s.robot.report(t, "", s.id, status).wantProblem(t, 400, "invalid_request")
		s.bus.report(t, s.venue, "", s.id, status)
	}
	s.wantDeadLetters(t, s.id, "invalid_request", "invalid_request", "invalid_request")
	s.wantHistory(t, s.id, "placed")
}
