package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/audit"
	"kuhnya/internal/broker/embedded"
)

// What may be planted into a still folder, past the rules.
const (
	orderID  = "01900000-0000-7000-8000-00000000000a"
	orderKey = `x'0190000000007000800000000000000a'`

	otherStatus = `UPDATE tickets SET status = 'cooking'`
	parkedRow   = `INSERT INTO outbox_parked VALUES (7, x'01', 'orders', '` + orderID + `', x'', NULL, 1000000, 'too large', 2)`
	waitingRow  = `INSERT INTO outbox (event_id, topic, key, headers, created_at) VALUES (x'02', 'orders', 'k', x'', 1)`
)

func deadLetter(state string) string {
	return `INSERT INTO dead_letters VALUES (x'03', 'g', 't', 0, 0, CAST('` + orderID + `' AS BLOB), NULL, x'', 'internal', '', 1, 0, '` + state + `', '', 1)`
}

func step(no, status, sentAt string) string {
	return `INSERT INTO ticket_steps VALUES (` + orderKey + `, ` + no + `, '` + status + `', '', 'k', x'0` + no + `', 1, ` + sentAt + `, '')`
}

func TestAuditor_at_rest(t *testing.T) {
	type planted map[string][]string // by service
	differs := []string{"is accepted, its ticket cooking"}
	for name, c := range map[string]struct {
		plant planted
		want  []string
	}{
		"sound":                   {},
		"a ticket is missing":     {planted{Establishment: {`DELETE FROM ticket_steps`, `DELETE FROM tickets`}}, []string{"has no ticket"}},
		"a ticket is hidden":      {planted{Establishment: {`UPDATE tickets SET hidden = 1`}}, []string{"has no ticket"}},
		"another status":          {planted{Establishment: {otherStatus}}, differs},
		"a status nobody knows":   {planted{Establishment: {`UPDATE tickets SET status = 'eaten'`}}, []string{"is accepted, its ticket in no known status"}},
		"a sent step is not here": {planted{Establishment: {step("2", "cooking", "1")}}, []string{"never entered cooking, though that step was sent"}},
		"an order is missing": {
			planted{Kitchen: {`DELETE FROM order_status_events`, `DELETE FROM orders`}},
			[]string{"has a ticket but does not exist", "never entered accepted, though that step was sent"},
		},
		"a dead letter of kitchen is open":             {plant: planted{Establishment: {otherStatus}, Kitchen: {deadLetter("open")}}},
		"a dead letter of kitchen was discarded":       {plant: planted{Establishment: {otherStatus}, Kitchen: {deadLetter("discarded")}}},
		"a dead letter of establishment is open":       {plant: planted{Establishment: {otherStatus, deadLetter("open")}}},
		"a dead letter was sent again and excuses not": {planted{Establishment: {otherStatus}, Kitchen: {deadLetter("redriven")}}, differs},
		"a row of kitchen is parked":                   {plant: planted{Establishment: {otherStatus}, Kitchen: {parkedRow}}},
		"a row of establishment is parked":             {plant: planted{Establishment: {otherStatus, parkedRow}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := stillFolder(t)
			for service, statements := range c.plant {
				plant(t, data, service, statements...)
			}
			violations, err := openAuditor(t, data).AtRest(t.Context())
			must(t, err)
			var got []string
			for _, v := range violations {
				if v.Invariant != audit.Projection || v.Subject != "order "+orderID {
					t.Errorf("violation %v", v)
				}
				got = append(got, v.Detail)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAuditor_not_at_rest: with a violation planted that must not be reported.
func TestAuditor_not_at_rest(t *testing.T) {
	for name, c := range map[string]struct {
		disturb func(t *testing.T, data string)
		says    string
	}{
		"a row waits in kitchen's outbox":       {func(t *testing.T, data string) { plant(t, data, Kitchen, waitingRow) }, "1 outbox rows"},
		"a row waits in establishment's outbox": {func(t *testing.T, data string) { plant(t, data, Establishment, waitingRow) }, "1 outbox rows"},
		"a step is unsent":                      {func(t *testing.T, data string) { plant(t, data, Establishment, step("2", "cooking", "NULL")) }, "1 unsent steps"},
		"a record of an order is unread": {func(t *testing.T, data string) {
			withBroker(t, data, func(b *embedded.Broker) { produce(t, b, topics.Orders()) })
		}, "2 records unread"}, // by two groups
		"a record of a step is unread": {func(t *testing.T, data string) {
			withBroker(t, data, func(b *embedded.Broker) { produce(t, b, topics.EstablishmentStatuses()) })
		}, "1 records unread"},
		"more was committed than the log holds": {func(t *testing.T, data string) {
			withBroker(t, data, func(b *embedded.Broker) { commitOrders(t, b, 5) })
		}, "records unread"},
		"the newest order went elsewhere": {func(t *testing.T, data string) {
			plant(t, data, Kitchen, `UPDATE order_status_events SET at = 4000000000000000`)
		}, "--kafka-brokers"},
		"the broker folder was never used": {func(t *testing.T, data string) { must(t, os.RemoveAll(filepath.Join(data, "broker"))) }, "--kafka-brokers"},
		"the broker folder is empty": {func(t *testing.T, data string) {
			must(t, os.RemoveAll(filepath.Join(data, "broker")))
			must(t, os.Mkdir(filepath.Join(data, "broker"), 0o700))
		}, "--kafka-brokers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := stillFolder(t)
			plant(t, data, Establishment, otherStatus)
			c.disturb(t, data)
			before := files(t, data)
			violations, err := openAuditor(t, data).AtRest(t.Context())
			if !errors.Is(err, ErrNotAtRest) || !strings.Contains(err.Error(), c.says) || strings.Count(err.Error(), "not at rest") != 1 {
				t.Errorf("%v, %v, want %q", violations, err, c.says)
			}
			if diff := cmp.Diff(before, files(t, data)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAuditor_with_another_prefix_creates_no_topic(t *testing.T) {
	data := stillFolder(t)
	auditor := openAuditor(t, data)
	auditor.Topics.Prefix = "other."
	if _, err := auditor.AtRest(t.Context()); !errors.Is(err, ErrNotAtRest) || !strings.Contains(err.Error(), "other.orders") || !strings.Contains(err.Error(), "--topic-prefix") {
		t.Errorf("error %v", err)
	}
	auditor.Topics = topics
	logs, err := auditor.openLogs(t.Context())
	must(t, err)
	defer logs.close(t.Context()) //nolint:errcheck // the test is over
	listed, err := logs.admin.Kafka().ListTopics(t.Context())
	must(t, err)
	for _, topic := range listed.Names() {
		if !strings.HasPrefix(topic, topics.Prefix) {
			t.Errorf("topic %s has come to be", topic)
		}
	}
}

func TestAuditor_of_a_folder_in_use(t *testing.T) {
	data := stillFolder(t)
	withBroker(t, data, func(*embedded.Broker) {
		if _, err := openAuditor(t, data).AtRest(t.Context()); !errors.Is(err, ErrNotAtRest) || !strings.Contains(err.Error(), "--kafka-brokers") {
			t.Errorf("error %v", err)
		}
	})
}

// TestAuditor_takes_a_parked_row_for_a_record: what is parked will not be in any broker folder.
func TestAuditor_takes_a_parked_row_for_a_record(t *testing.T) {
	data := stillFolder(t)
	plant(t, data, Kitchen, parkedRow, `UPDATE order_status_events SET at = 4000000000000000`, `UPDATE outbox_parked SET created_at = 4000000000000000`)
	auditor := openAuditor(t, data)
	if _, err := auditor.AtRest(t.Context()); err != nil {
		t.Error(err)
	}
	parked, err := auditor.Parked(t.Context())
	must(t, err)
	if diff := cmp.Diff([]audit.Parked{{Database: Kitchen, ID: 7, Key: orderID, Reason: "too large"}}, parked); diff != "" {
		t.Errorf("parked (-want +got):\n%s", diff)
	}
}

// TestAuditor_notices_what_moves between its first look and its last.
func TestAuditor_notices_what_moves(t *testing.T) {
	for name, c := range map[string]struct {
		move  func(t *testing.T, data string, logs *logs)
		still bool
	}{
		"nothing":                  {func(*testing.T, string, *logs) {}, true},
		"only a lease was renewed": {inService(Kitchen, `UPDATE outbox_lease SET epoch = epoch + 1, expires = 9`), true},
		"an order was cancelled":   {inService(Kitchen, `INSERT INTO order_status_events VALUES (`+orderKey+`, 3, 'accepted', 'cancelled', '', '', NULL, 1, 1, 1)`), false},
		"a row was appended and is sent": {
			inService(Kitchen, waitingRow, `DELETE FROM outbox`), false,
		},
		"a row was parked":               {inService(Establishment, parkedRow), false},
		"a dead letter came":             {inService(Kitchen, deadLetter("open")), false},
		"a ticket was pressed":           {inService(Establishment, step("2", "cooking", "NULL")), false},
		"a ticket was pressed and told":  {inService(Establishment, step("2", "cooking", "1")), false},
		"a ticket followed its order":    {inService(Establishment, `UPDATE tickets SET kitchen_seq = kitchen_seq + 1`), false},
		"a ticket was hidden till now":   {inService(Establishment, `UPDATE tickets SET hidden = NOT hidden`), false},
		"a record of an order was there": {func(t *testing.T, _ string, l *logs) { produce(t, l.embedded, topics.Orders()) }, false},
		"a record of a step was there":   {func(t *testing.T, _ string, l *logs) { produce(t, l.embedded, topics.EstablishmentStatuses()) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := stillFolder(t)
			auditor := openAuditor(t, data)
			logs, err := auditor.openLogs(t.Context())
			must(t, err)
			defer logs.close(context.Background()) //nolint:errcheck // the test is over
			ends, err := logs.ends(t.Context())
			must(t, err)
			before, err := auditor.progress(t.Context())
			must(t, err)
			c.move(t, data, logs)
			err = auditor.mustNotHaveMoved(t.Context(), logs, before, ends)
			if c.still && err != nil || !c.still && !errors.Is(err, ErrNotAtRest) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func inService(service string, statements ...string) func(*testing.T, string, *logs) {
	return func(t *testing.T, data string, _ *logs) { plant(t, data, service, statements...) }
}
