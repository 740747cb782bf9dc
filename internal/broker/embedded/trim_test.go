package embedded_test

import (
	"testing"

	"kuhnya/internal/event"
)

func TestTrim(t *testing.T) {
	orders, statuses := topics.Orders(), topics.EstablishmentStatuses()

	t.Run("waits_for_every_declared_group", func(t *testing.T) {
		r := open(t, t.TempDir())
		produce(t, r.Connection(), orders, 10)
		r.commit(reporting, orders, 8)
		r.trim()
		r.wantBounds(orders, 0, 10) // neither establishment nor bonus has read anything yet
		r.commit(event.GroupEstablishment, orders, 6)
		r.trim()
		r.wantBounds(orders, 0, 10) // nor bonus now
		r.commit(event.GroupBonus, orders, 7)
		r.trim()
		r.wantBounds(orders, 6, 10)
		r.trim()
		r.wantBounds(orders, 6, 10)
	})

	t.Run("waits_for_a_group_that_came_late", func(t *testing.T) {
		r := open(t, t.TempDir())
		produce(t, r.Connection(), statuses, 10)
		r.commit(event.GroupKitchen, statuses, 10)
		r.commit("late", statuses, 3)
		r.commit("elsewhere", orders, 0)
		r.trim()
		r.wantBounds(statuses, 3, 10)
	})

	t.Run("keeps_the_last_record_so_that_offsets_go_on_after_a_stop", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		produce(t, r.Connection(), statuses, 10)
		r.commit(event.GroupKitchen, statuses, 10)
		r.trim()
		r.wantBounds(statuses, 9, 10)
		r.stop()
		again := open(t, dir)
		again.wantBounds(statuses, 9, 10)
		again.wantCommitted(event.GroupKitchen, statuses, 10)
	})

	t.Run("keeps_the_last_record_so_that_offsets_go_on_after_a_kill", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		produce(t, r.Connection(), statuses, 10)
		r.commit(event.GroupKitchen, statuses, 10)
		r.trim()
		after := open(t, killed(t, dir))
		// What was deleted from a file that is still in use is back, which costs a little room and no more.
		after.wantBounds(statuses, 0, 10)
		after.wantCommitted(event.GroupKitchen, statuses, 10)
	})

	t.Run("never_touches_dead_letters", func(t *testing.T) {
		r := open(t, t.TempDir())
		dlq := event.DeadLetterTopic(statuses, event.GroupKitchen)
		produce(t, r.Connection(), dlq, 10)
		r.commit("reader", dlq, 10)
		r.trim()
		r.wantBounds(dlq, 0, 10)
	})

	t.Run("keeps_the_newest_bonuses", func(t *testing.T) {
		r := open(t, t.TempDir())
		produce(t, r.Connection(), topics.Bonuses(), 100_500)
		r.commit("reader", topics.Bonuses(), 100_500)
		r.trim()
		r.wantBounds(topics.Bonuses(), 500, 100_500)
	})
}
