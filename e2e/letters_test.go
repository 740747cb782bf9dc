package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	deadOrders      = ordersTopic + ".establishment.dlq"
	deadOrdersBonus = ordersTopic + ".bonus.dlq"
)

// reader is a service that reads a topic, and what becomes of records that it can't apply.
type reader struct {
	group, topic, letters string
}

var (
	kitchenReader = reader{"kitchen", statusesTopic, deadStatuses}
	boardReader   = reader{"establishment", ordersTopic, deadOrders}
	bonusReader   = reader{"bonus", ordersTopic, deadOrdersBonus}
)

// send produces a record as it is. Its partition and offset are known afterwards.
func (b bus) send(t testing.TB, r *kgo.Record) *kgo.Record {
	t.Helper()
	if err := b.client.ProduceSync(withPatience(t), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return r
}

// buried are the dead letters with a record key, after the reader has dealt with all that its topic holds now.
func (b bus) buried(t testing.TB, by reader, key string) (letters []*kgo.Record) {
	t.Helper()
	b.settle(t, by.group, by.topic)
	for _, r := range b.all(t, by.letters) {
		if string(r.Key) == key {
			letters = append(letters, r)
		}
	}
	return letters
}

// wantBuried fails the test unless exactly these records are dead letters, in this order, with the code of their error,
// and otherwise as they were sent.
func (b bus) wantBuried(t testing.TB, by reader, code string, sent ...*kgo.Record) {
	t.Helper()
	letters := b.buried(t, by, string(sent[0].Key))
	if len(letters) != len(sent) {
		t.Fatalf("%d dead letters, want %d", len(letters), len(sent))
	}
	for i, letter := range letters {
		wantLetterOf(t, by, code, sent[i], letter)
	}
}

// wantLetterOf compares a dead letter with its record.
func wantLetterOf(t testing.TB, by reader, code string, sent, letter *kgo.Record) {
	t.Helper()
	own := letter.Headers[:min(len(sent.Headers), len(letter.Headers))]
	if diff := cmp.Diff(sent.Headers, own); len(sent.Headers) > 0 && diff != "" {
		t.Errorf("headers (-sent +dead letter):\n%s", diff)
	}
	if (sent.Value == nil) != (letter.Value == nil) || string(sent.Value) != string(letter.Value) {
		t.Errorf("value is %.80q, was sent as %.80q", letter.Value, sent.Value)
	}
	wantWhy(t, by, code, sent, letter)
}

// wantWhy checks what a dead letter says about its record.
func wantWhy(t testing.TB, by reader, code string, sent, letter *kgo.Record) {
	t.Helper()
	want := map[string]string{
		"x-dlq-original-topic": by.topic, "x-dlq-original-partition": fmt.Sprint(sent.Partition),
		"x-dlq-original-offset": fmt.Sprint(sent.Offset), "x-dlq-group": by.group, "x-dlq-error-code": code,
		"x-dlq-attempts": "1", "x-dlq-redrive-count": "0",
	}
	got := map[string]string{}
	for name := range want {
		got[name] = header(letter, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the dead letter says (-want +got):\n%s", diff)
	}
	if why := header(letter, "x-dlq-error-message"); why == "" || len(why) > 512 {
		t.Errorf("error message has %d bytes", len(why))
	}
	if at, err := time.Parse(time.RFC3339Nano, header(letter, "x-dlq-failed-at")); err != nil || time.Since(at) > time.Hour {
		t.Errorf("failed at %q: %v", header(letter, "x-dlq-failed-at"), err)
	}
}

// savedLetter is a row of a service's table of dead letters.
type savedLetter struct {
	Code, State string
	Value       []byte
}

// saved reads a service's dead letters with a record key out of its database, whether its process runs or not.
func (s *site) saved(t testing.TB, service, key string) (rows []savedLetter) {
	t.Helper()
	db, err := sqlite3.OpenFlags(filepath.Join(s.data, service+".db"), sqlite3.OPEN_READONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	query, _, err := db.Prepare(`SELECT error_code, state, value FROM dead_letters WHERE key = CAST(? AS BLOB) ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	if err := query.BindText(1, key); err != nil {
		t.Fatal(err)
	}
	for query.Step() {
		rows = append(rows, savedLetter{query.ColumnText(0), query.ColumnText(1), query.ColumnBlob(2, nil)})
	}
	if err := query.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// wantSaved fails the test unless the service keeps exactly these records as open dead letters, whole.
func (s *site) wantSaved(t testing.TB, by reader, code string, sent ...*kgo.Record) {
	t.Helper()
	rows := s.saved(t, by.group, string(sent[0].Key))
	if len(rows) != len(sent) {
		t.Fatalf("%d rows of dead letters, want %d", len(rows), len(sent))
	}
	for i, row := range rows {
		if row.Code != code || row.State != "open" || string(row.Value) != string(sent[i].Value) {
			t.Errorf("row %d is %s, %s with %d bytes, want %s, open with %d", i, row.Code, row.State, len(row.Value), code, len(sent[i].Value))
		}
	}
}
