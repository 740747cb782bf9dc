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
	"kuhnya/internal/event"
	"kuhnya/internal/ops"
)

// What may be planted into a still folder, past the rules.
const (
	orderID  = "01900000-0000-7000-8000-00000000000a"
	orderKey = `x'0190000000007000800000000000000a'`
	doneID   = "01900000-0000-7000-8000-00000000000d"
	doneKey  = `x'0190000000007000800000000000000d'`
	ofOrder  = ` WHERE order_id = ` + orderKey
	ofDone   = ` WHERE order_id = ` + doneKey

	otherStatus  = `UPDATE tickets SET status = 'cooking'` + ofOrder
	waitingRow   = `INSERT INTO outbox (event_id, topic, key, headers, created_at) VALUES (x'02', 'orders', 'k', x'', 1)`
	noEvaluation = `DELETE FROM evaluations` + ofDone
	noAccrual    = `DELETE FROM accruals` + ofDone

	anotherVersion = `INSERT INTO campaign_versions
		SELECT campaign_id, 2, name, kind, 600, 0, 0, timezone, 0, NULL, NULL, 1, 1 FROM campaign_versions`
)

func parkedRow(order string) string {
	return `INSERT INTO outbox_parked VALUES (7, x'01', 'orders', '` + order + `', x'', NULL, 1000000, 'too large', 2)`
}

func deadLetter(order, state string) string {
	return `INSERT INTO dead_letters VALUES (x'03', 'g', 't', 0, 0, CAST('` + order + `' AS BLOB), NULL, x'', 'internal', '', 1, 0, '` + state + `', '', 1)`
}

func step(no, status, sentAt string) string {
	return `INSERT INTO ticket_steps VALUES (` + orderKey + `, ` + no + `, '` + status + `', '', 'k', x'0` + no + `', 1, ` + sentAt + `, '')`
}

// short names the two orders, and accruals by the end of theirs.
var short = strings.NewReplacer("order "+orderID, "order", "order "+doneID, "done", "000000-0000-0000-0000-000000000000", "")

func TestAuditor_at_rest(t *testing.T) {
	type planted map[string][]string // by service
	differs, unevaluated := []string{"order is accepted, its ticket cooking"}, []string{"done is completed, but was not evaluated"}
	for name, c := range map[string]struct {
		plant planted
		want  []string
	}{
		"sound": {},
		"a ticket is missing": {
			planted{Establishment: {`DELETE FROM ticket_steps`, `DELETE FROM tickets` + ofOrder}}, []string{"order has no ticket"},
		},
		"a ticket is hidden":      {planted{Establishment: {`UPDATE tickets SET hidden = 1` + ofOrder}}, []string{"order has no ticket"}},
		"another status":          {planted{Establishment: {otherStatus}}, differs},
		"a status nobody knows":   {planted{Establishment: {`UPDATE tickets SET status = 'eaten'` + ofOrder}}, []string{"order is accepted, its ticket in no known status"}},
		"a sent step is not here": {planted{Establishment: {step("2", "cooking", "1")}}, []string{"order never entered cooking, though that step was sent"}},
		"an order is missing": {
			planted{Kitchen: {`DELETE FROM order_status_events`, `DELETE FROM orders WHERE id = ` + orderKey}},
			[]string{"order has a ticket but does not exist", "order never entered accepted, though that step was sent"},
		},
		"an evaluation is missing":          {planted{Bonus: {noEvaluation, noAccrual}}, unevaluated},
		"an evaluation for another user":    {planted{Bonus: {`UPDATE evaluations SET user_id = 'eve'`}}, []string{"done is of user bob, but was evaluated for user eve"}},
		"an evaluation by another total":    {planted{Bonus: {`UPDATE evaluations SET total = 1`}}, []string{"done has a total of 45000 RUB, but was evaluated by 1 RUB"}},
		"an evaluation by another currency": {planted{Bonus: {`UPDATE evaluations SET currency = 'USD'`}}, []string{"done has a total of 45000 RUB, but was evaluated by 45000 USD"}},
		"an evaluation too early":           {planted{Bonus: {evaluation(orderKey, "alice", 0)}}, []string{"order was evaluated, but is accepted"}},
		"an evaluation of no order": {
			planted{Bonus: {evaluation(`zeroblob(16)`, "alice", 0)}}, []string{"order 00 was evaluated but does not exist"},
		},
		"points too early":             {planted{Bonus: {accrual("3", orderKey, "alice", "event")}}, []string{"accrual 03 is for order, which is accepted"}},
		"points for another user":      {planted{Bonus: {accrual("3", doneKey, "eve", "event")}}, []string{"accrual 03 is for done of user bob, but went to user eve"}},
		"a client's points, too early": {plant: planted{Bonus: {accrual("3", orderKey, "eve", "api")}}},

		"a dead letter of kitchen is open":             {plant: planted{Establishment: {otherStatus}, Kitchen: {deadLetter(orderID, "open")}}},
		"a dead letter of kitchen was discarded":       {plant: planted{Establishment: {otherStatus}, Kitchen: {deadLetter(orderID, "discarded")}}},
		"a dead letter of establishment is open":       {plant: planted{Establishment: {otherStatus, deadLetter(orderID, "open")}}},
		"a dead letter was sent again and excuses not": {planted{Establishment: {otherStatus}, Kitchen: {deadLetter(orderID, "redriven")}}, differs},
		"a row of kitchen is parked":                   {plant: planted{Establishment: {otherStatus}, Kitchen: {parkedRow(orderID)}}},
		"a row of establishment is parked":             {plant: planted{Establishment: {otherStatus, parkedRow(orderID)}}},
		"a dead letter of bonus is open":               {plant: planted{Bonus: {noEvaluation, noAccrual, deadLetter(doneID, "open")}}},
		"a dead letter of bonus was discarded":         {plant: planted{Bonus: {noEvaluation, noAccrual, deadLetter(doneID, "discarded")}}},
		"a dead letter of bonus was sent again":        {planted{Bonus: {noEvaluation, noAccrual, deadLetter(doneID, "redriven")}}, unevaluated},
		"a dead letter of bonus is about another":      {planted{Bonus: {noEvaluation, noAccrual, deadLetter(orderID, "open")}}, unevaluated},
		"a row of the completed order is parked":       {plant: planted{Bonus: {noEvaluation, noAccrual}, Kitchen: {parkedRow(doneID)}}},
		"nothing excuses points that nobody earned": {
			planted{Bonus: {accrual("3", orderKey, "alice", "event"), deadLetter(orderID, "open"), parkedRow(orderID)}},
			[]string{"accrual 03 is for order, which is accepted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := stillFolder(t)
			for service, statements := range c.plant {
				plant(t, data, service, statements...)
			}
			violations, err := openAuditor(t, data, nobody).AtRest(t.Context())
			must(t, err)
			var got []string
			for _, v := range violations {
				got = append(got, short.Replace(v.Subject+" "+v.Detail))
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
		"a row waits in bonus's outbox":         {func(t *testing.T, data string) { plant(t, data, Bonus, waitingRow) }, "1 outbox rows"},
		"a step is unsent":                      {func(t *testing.T, data string) { plant(t, data, Establishment, step("2", "cooking", "NULL")) }, "1 unsent steps"},
		"a record of an order is unread":        {unreadOrder(), "2 records unread"}, // by two groups
		"establishment alone has not read":      {unreadOrder(event.GroupBonus), "1 records unread"},
		"bonus alone has not read":              {unreadOrder(event.GroupEstablishment), "1 records unread"},
		"a record of a step is unread": {func(t *testing.T, data string) {
			withBroker(t, data, func(b *embedded.Broker) { produce(t, b, topics.EstablishmentStatuses()) })
		}, "1 records unread"},
		"more was committed than the log holds": {func(t *testing.T, data string) {
			withBroker(t, data, func(b *embedded.Broker) { commitOrders(t, b, 5, event.GroupBonus) })
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
			violations, err := openAuditor(t, data, nobody).AtRest(t.Context())
			if !errors.Is(err, ErrNotAtRest) || !strings.Contains(err.Error(), c.says) || strings.Count(err.Error(), "not at rest") != 1 {
				t.Errorf("%v, %v, want %q", violations, err, c.says)
			}
			if diff := cmp.Diff(before, files(t, data)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

// unreadOrder adds a record of an order that only some groups have read.
func unreadOrder(readers ...string) func(*testing.T, string) {
	return func(t *testing.T, data string) {
		withBroker(t, data, func(b *embedded.Broker) {
			produce(t, b, topics.Orders())
			commitOrders(t, b, 2, readers...)
		})
	}
}

func TestAuditor_with_another_prefix_creates_no_topic(t *testing.T) {
	data := stillFolder(t)
	auditor := openAuditor(t, data, nobody)
	auditor.Topics.Prefix = "other."
	if _, err := auditor.AtRest(t.Context()); !errors.Is(err, ErrNotAtRest) || !strings.Contains(err.Error(), "other.orders") || !strings.Contains(err.Error(), "--topic-prefix") {
		t.Errorf("error %v", err)
	}
	auditor.Topics = topics
	logs, err := auditor.openLogs(t.Context())
	must(t, err)
	defer logs.close(t.Context()) //nolint:errcheck // the test is over
	listed, err := logs.(brokerLogs).admin.Kafka().ListTopics(t.Context())
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
		if _, err := openAuditor(t, data, nobody).AtRest(t.Context()); !errors.Is(err, ErrNotAtRest) || !strings.Contains(err.Error(), "--kafka-brokers") {
			t.Errorf("error %v", err)
		}
	})
}

// TestAuditor_takes_a_parked_row_for_a_record: what is parked will not be in any broker folder.
func TestAuditor_takes_a_parked_row_for_a_record(t *testing.T) {
	data := stillFolder(t)
	plant(t, data, Kitchen, parkedRow(orderID), `UPDATE order_status_events SET at = 4000000000000000`, `UPDATE outbox_parked SET created_at = 4000000000000000`)
	auditor := openAuditor(t, data, nobody)
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
		move  func(t *testing.T, data string, b *embedded.Broker)
		still bool
	}{
		"nothing":                  {func(*testing.T, string, *embedded.Broker) {}, true},
		"only a lease was renewed": {inService(Kitchen, `UPDATE outbox_lease SET epoch = epoch + 1, expires = 9`), true},
		"an order was cancelled":   {inService(Kitchen, `INSERT INTO order_status_events VALUES (`+orderKey+`, 3, 'accepted', 'cancelled', '', '', NULL, 1, 1, 1)`), false},
		"a row was appended and is sent": {
			inService(Kitchen, waitingRow, `DELETE FROM outbox`), false,
		},
		"a row was parked":               {inService(Establishment, parkedRow(orderID)), false},
		"a dead letter came":             {inService(Kitchen, deadLetter(orderID, "open")), false},
		"a ticket was pressed":           {inService(Establishment, step("2", "cooking", "NULL")), false},
		"a ticket was pressed and told":  {inService(Establishment, step("2", "cooking", "1")), false},
		"a ticket followed its order":    {inService(Establishment, `UPDATE tickets SET kitchen_seq = kitchen_seq + 1`), false},
		"a ticket was hidden till now":   {inService(Establishment, `UPDATE tickets SET hidden = NOT hidden`), false},
		"a row of bonus was parked":      {inService(Bonus, parkedRow(orderID)), false},
		"a dead letter came to bonus":    {inService(Bonus, deadLetter(orderID, "open")), false},
		"a row of bonus is sent":         {inService(Bonus, waitingRow, `DELETE FROM outbox`), false},
		"an order was evaluated":         {inService(Bonus, evaluation(orderKey, "alice", 0)), false},
		"points were accrued":            {inService(Bonus, accrual("3", orderKey, "alice", "api")), false},
		"a campaign was changed":         {inService(Bonus, anotherVersion), false},
		"a record of an order was there": {func(t *testing.T, _ string, b *embedded.Broker) { produce(t, b, topics.Orders()) }, false},
		"a record of a step was there":   {func(t *testing.T, _ string, b *embedded.Broker) { produce(t, b, topics.EstablishmentStatuses()) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := stillFolder(t)
			auditor := openAuditor(t, data, nobody)
			logs, err := auditor.openLogs(t.Context())
			must(t, err)
			defer logs.close(context.Background()) //nolint:errcheck // the test is over
			ends, _, err := auditor.unread(t.Context(), logs)
			must(t, err)
			before, err := auditor.progress(t.Context())
			must(t, err)
			c.move(t, data, logs.(brokerLogs).folder)
			err = auditor.mustNotHaveMoved(t.Context(), logs, before, ends)
			if c.still && err != nil || !c.still && !errors.Is(err, ErrNotAtRest) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func inService(service string, statements ...string) func(*testing.T, string, *embedded.Broker) {
	return func(t *testing.T, data string, _ *embedded.Broker) { plant(t, data, service, statements...) }
}

// sayings are logs of which somebody says the same each time.
type sayings map[string]ops.Reading // by group

func (s sayings) close(context.Context) error { return nil }

func (s sayings) reading(_ context.Context, c event.Consumer) ([]ops.Reading, error) {
	return []ops.Reading{s[c.Group]}, nil
}

// TestAuditor_asks_for_each_group_alone: a record of an order came after establishment was asked and before bonus was.
// Bonus has read it; that says nothing about establishment.
func TestAuditor_asks_for_each_group_alone(t *testing.T) {
	auditor := openAuditor(t, stillFolder(t), nobody)
	ends, unread, err := auditor.unread(t.Context(), sayings{
		event.GroupEstablishment: {End: 1, Committed: 1}, event.GroupBonus: {End: 2, Committed: 2},
	})
	must(t, err)
	before, err := auditor.progress(t.Context())
	must(t, errors.Join(err, before.mustRest(unread)))
	err = auditor.mustNotHaveMoved(t.Context(), sayings{
		event.GroupEstablishment: {End: 2, Committed: 1}, event.GroupBonus: {End: 2, Committed: 2},
	}, before, ends)
	if !errors.Is(err, ErrNotAtRest) {
		t.Errorf("error %v", err)
	}
}

// TestAuditor_live_checks_the_databases_that_are_there and have something to be checked at every moment.
func TestAuditor_live_checks_the_databases_that_are_there(t *testing.T) {
	unsound := stillFolder(t)
	plant(t, unsound, Kitchen, `UPDATE orders SET seq = 9 WHERE id = `+orderKey, `DELETE FROM orders WHERE id = `+doneKey)
	plant(t, unsound, Bonus, `INSERT INTO balances VALUES ('wallet:eve', 5)`, `DELETE FROM accruals`, `DELETE FROM evaluations`)
	for name, c := range map[string]struct {
		gone []string
		want []int
	}{
		"all":                  {nil, []int{audit.History, audit.Ledger}},
		"kitchen alone":        {[]string{Establishment, Bonus}, []int{audit.History}},
		"bonus alone":          {[]string{Kitchen, Establishment}, []int{audit.Ledger}},
		"bonus, establishment": {[]string{Kitchen}, []int{audit.Ledger}},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			must(t, os.CopyFS(data, os.DirFS(unsound)))
			for _, service := range c.gone {
				must(t, os.Remove(DatabasePath(data, service)))
			}
			auditor := &Auditor{Data: data}
			must(t, auditor.Open())
			defer func() { must(t, auditor.Close()) }()
			violations, err := auditor.Live(t.Context())
			must(t, err)
			var got []int
			for _, v := range violations {
				got = append(got, v.Invariant)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("invariants (-want +got):\n%s\n%v", diff, violations)
			}
			if n := len(auditor.Databases()); n != len(Services)-len(c.gone) {
				t.Errorf("%d databases", n)
			}
			if err := (&Auditor{Data: data}).Open(Services...); (err == nil) != (c.gone == nil) {
				t.Errorf("opened all: %v", err)
			}
		})
	}
	t.Run("tickets alone can't be checked", func(t *testing.T) {
		data := t.TempDir()
		must(t, os.CopyFS(data, os.DirFS(unsound)))
		must(t, errors.Join(os.Remove(DatabasePath(data, Kitchen)), os.Remove(DatabasePath(data, Bonus))))
		if err := (&Auditor{Data: data}).Open(); !errors.Is(err, errNoDatabase) {
			t.Errorf("error %v", err)
		}
	})
}
