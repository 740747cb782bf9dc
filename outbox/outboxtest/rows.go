package outboxtest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kuhnya/outbox"
)

func keepsMessages(t *testing.T, f Fixture) {
	plain := message("k", `{"a":1}`)
	empty, null := message("k", ""), message("k", "")
	null.Payload = nil
	binary := message("ключ \t'\"", "\x00\xff\xfe\x80")
	binary.Topic = "bonuses.v2_x-y"
	bare := message("", "x")
	bare.Headers = nil
	headers := message("k", "x")
	headers.Headers = []outbox.Header{
		{Key: "z", Value: []byte("1")}, {Key: "a", Value: []byte("\xff\x00\xfe")}, {Key: "z", Value: []byte("2")},
		{Key: "nil"}, {Key: "empty", Value: []byte{}}, {Key: "", Value: []byte("nameless")}, {Key: "имя", Value: []byte("ё")},
	}
	want := []outbox.Message{plain, empty, null, binary, bare, headers}
	f.append(t, want...)

	rows := f.pending(t, 0, 100)
	got := make([]outbox.Message, len(rows))
	for i, row := range rows {
		got[i] = row.Message
		if row.CreatedAt.IsZero() {
			t.Errorf("row %d has no time of creation", row.ID)
		}
	}
	sameList := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Headers" }, cmpopts.EquateEmpty())
	if diff := cmp.Diff(want, got, sameList); diff != "" {
		t.Errorf("messages changed (-appended +read):\n%s", diff)
	}
}

func keepsLarge(t *testing.T, f Fixture) {
	want := message("k", strings.Repeat("0123456\xff", 125_000)) // near what a broker takes, which a store may refuse above
	f.append(t, want)
	if got := f.pending(t, 0, 1)[0]; !bytes.Equal(got.Payload, want.Payload) {
		t.Errorf("a payload of %d bytes came back changed, with %d", len(want.Payload), len(got.Payload))
	}
}

func pages(t *testing.T, f Fixture) {
	for i := range 10 {
		f.append(t, message("k", fmt.Sprint(2*i)), message("k", fmt.Sprint(2*i+1)))
	}
	var got []string
	var after int64
	for {
		rows := f.pending(t, after, 7)
		if len(rows) > 7 {
			t.Fatalf("page of %d rows, limit 7", len(rows))
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			if row.ID <= after {
				t.Fatalf("id %d does not rise above %d", row.ID, after)
			}
			after = row.ID
			got = append(got, string(row.Payload))
		}
	}
	want := make([]string, 20)
	for i := range want {
		want[i] = fmt.Sprint(i)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows out of the order of appending (-want +got):\n%s", diff)
	}
}

// neverReusesIDs: an id that comes back would let a late delete of a stale relay remove a row it never sent.
func neverReusesIDs(t *testing.T, f Fixture) {
	lease := f.acquire(t, "a", long)
	var last int64
	for range 3 {
		f.append(t, message("k", "1"), message("k", "2"))
		rows := f.pending(t, 0, 10)
		if rows[0].ID <= last {
			t.Fatalf("id %d was in use before: the highest so far is %d", rows[0].ID, last)
		}
		last = rows[1].ID
		if err := f.Store.Delete(t.Context(), lease, ids(rows)); err != nil {
			t.Fatal(err)
		}
	}
}

func lateCommit(t *testing.T, f Fixture) {
	early, late := f.begin(t), f.begin(t)
	must(t, early.Append(t.Context(), message("a", "early")))
	must(t, late.Append(t.Context(), message("b", "late")))
	must(t, late.Commit(t.Context()))
	if diff := cmp.Diff([]string{"late"}, f.payloads(t)); diff != "" {
		t.Fatalf("before the lower id commits (-want +got):\n%s", diff)
	}
	must(t, early.Commit(t.Context()))
	if diff := cmp.Diff([]string{"early", "late"}, f.payloads(t)); diff != "" {
		t.Errorf("after the lower id committed (-want +got):\n%s", diff)
	}
}

func rollback(t *testing.T, f Fixture) {
	tx := f.begin(t)
	must(t, tx.Append(t.Context(), message("k", "never")))
	must(t, tx.Rollback(t.Context()))
	f.append(t, message("k", "kept"))
	if diff := cmp.Diff([]string{"kept"}, f.payloads(t)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func deletes(t *testing.T, f Fixture) {
	f.append(t, message("k", "0"), message("k", "1"), message("k", "2"), message("k", "3"))
	lease := f.acquire(t, "a", long)
	rows := f.pending(t, 0, 10)
	for range 2 { // the second time stands for a retry whose first answer was lost
		if err := f.Store.Delete(t.Context(), lease, []int64{rows[2].ID, rows[0].ID}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"1", "3"}, f.payloads(t)); diff != "" {
			t.Errorf("rows left (-want +got):\n%s", diff)
		}
	}
	must(t, f.Store.Delete(t.Context(), lease, nil))
}

func deletesMany(t *testing.T, f Fixture) {
	const many = 3000
	messages := make([]outbox.Message, many)
	for i := range messages {
		messages[i] = message("k", fmt.Sprint(i))
	}
	f.append(t, messages...)
	rows := f.pending(t, 0, many)
	if len(rows) != many {
		t.Fatalf("%d rows, want %d", len(rows), many)
	}
	must(t, f.Store.Delete(t.Context(), f.acquire(t, "a", long), ids(rows[1:])))
	if diff := cmp.Diff([]string{"0"}, f.payloads(t)); diff != "" {
		t.Errorf("rows left (-want +got):\n%s", diff)
	}
}

func parks(t *testing.T, f Fixture) {
	f.append(t, message("k", "0"), message("k", "1"), message("k", "2"))
	lease := f.acquire(t, "a", long)
	bad := f.pending(t, 0, 10)[1]
	reason := strings.Repeat("ё", 256)
	for range 2 {
		must(t, f.Store.Park(t.Context(), lease, bad.ID, reason))
	}
	if diff := cmp.Diff([]string{"0", "2"}, f.payloads(t)); diff != "" {
		t.Errorf("rows left (-want +got):\n%s", diff)
	}
	if d := f.depth(t); d.Waiting != 2 || d.Parked != 1 {
		t.Errorf("depth %+v, want 2 waiting and 1 parked", d)
	}
	parked, err := f.Parked(t.Context())
	must(t, err)
	if diff := cmp.Diff([]Parked{{bad, reason}}, parked); diff != "" {
		t.Errorf("parked (-want +got):\n%s", diff)
	}
}

func depth(t *testing.T, f Fixture) {
	if d := f.depth(t); d != (outbox.Depth{}) {
		t.Errorf("depth of an empty outbox: %+v", d)
	}
	f.append(t, message("k", "0"), message("k", "1"))
	if d := f.depth(t); d.Waiting != 2 || d.Parked != 0 || d.OldestAge < 0 || d.OldestAge > long {
		t.Errorf("depth %+v, want 2 rows of a moment ago", d)
	}
	lease := f.acquire(t, "a", long)
	must(t, f.Store.Delete(t.Context(), lease, ids(f.pending(t, 0, 10))))
	if d := f.depth(t); d != (outbox.Depth{}) {
		t.Errorf("depth when all is deleted: %+v", d)
	}
}

func (f Fixture) begin(t *testing.T) Tx {
	t.Helper()
	if f.Begin == nil {
		t.Skip("one writer at a time: no transaction can overtake another")
	}
	tx, err := f.Begin(t.Context())
	must(t, err)
	return tx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
