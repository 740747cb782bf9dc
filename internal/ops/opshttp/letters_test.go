package opshttp_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/consume"
	"kuhnya/internal/auth"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
	"kuhnya/outbox"
)

const (
	list    = "/v1/kitchen/dead-letters"
	orderID = "0199f3a0-0000-7000-8000-000000000001"
)

// desk is a service's dead letters over HTTP and over a real database.
type desk struct {
	client
	store  messagesql.DeadLetters
	outbox messagesql.Outbox
	woken  int
}

func newDesk(t *testing.T) *desk {
	db := databasetest.SQLite(t, messagesql.Migrations())
	d := &desk{store: messagesql.NewDeadLetters(db), outbox: messagesql.NewOutbox(db)}
	d.client = serve(t, opshttp.Service{
		Name: "kitchen", Store: d.store, DeadLetters: ops.NewDeadLetters(d.store, func() { d.woken++ }),
	})
	return d
}

func letter(offset int64) consume.DeadLetter {
	return consume.DeadLetter{
		Group: "kitchen", Topic: "test.statuses", Partition: 3, Offset: offset, Key: []byte(orderID), Value: []byte("{"),
		ErrorCode: "invalid_request", ErrorMessage: "no JSON", Attempts: 1,
		FailedAt: time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC),
	}
}

// save saves a dead letter and returns the path of it.
func (d *desk) save(l consume.DeadLetter) (path string) {
	d.Helper()
	d.must(d.store.Save(d.Context(), l))
	all, err := d.store.DeadLetters(d.Context(), "", uuid.Nil, 1000)
	d.must(err)
	return list + "/" + all[len(all)-1].ID.String()
}

func (d *desk) sent() []outbox.Row {
	d.Helper()
	rows, err := d.outbox.Pending(d.Context(), 0, 1000)
	d.must(err)
	return rows
}

func TestDeadLetters_as_a_list(t *testing.T) {
	d := newDesk(t)
	d.want("GET", list, "", 200, `{"items":[]}`)
	path := d.save(letter(17))
	id := strings.TrimPrefix(path, list+"/")
	d.want("GET", list, "", 200, `{"items":[{"id":"`+id+`","service":"kitchen","group":"kitchen","topic":"test.statuses",`+
		`"partition":3,"offset":17,"state":"open","reason":"","error_code":"invalid_request","error_message":"no JSON","attempts":1,`+
		`"redrive_count":0,"failed_at":"2026-03-31T23:59:59Z","order_id":"`+orderID+`","key":{"text":"`+orderID+`"},"key_bytes":36,"value_bytes":1}]}`)
	d.want("GET", list+"?state=redriven", "", 200, `{"items":[]}`)
	d.want("GET", list+"?state=lost", "", 400, `"pointer":"/state"`)
	d.want("GET", list+"?cursor=x", "", 400, `"pointer":"/cursor"`)
	d.want("GET", list+"?limit=201", "", 400, `"pointer":"/limit"`)
}

func TestDeadLetters_in_pages(t *testing.T) {
	d := newDesk(t)
	var saved, listed []string
	for offset := range int64(7) {
		path := d.save(letter(offset))
		if offset == 3 {
			d.want("POST", path+"/discard", `{"reason":"a test"}`, 200, `"state":"discarded","reason":"a test"`)
			continue
		}
		saved = append(saved, path)
	}
	for cursor := ""; ; {
		_, answer := d.call("GET", list+"?state=open&limit=2"+cursor, "")
		var page struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
			NextCursor string `json:"next_cursor"`
		}
		d.must(json.Unmarshal([]byte(answer), &page))
		for _, item := range page.Items {
			listed = append(listed, list+"/"+item.ID)
		}
		if page.NextCursor == "" {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
	}
	if diff := cmp.Diff(saved, listed); diff != "" {
		t.Errorf("(-saved +listed):\n%s", diff)
	}
}

// TestDeadLetter_shows_any_bytes: what is no text is base 64, and nothing is not the same as nothing in it.
func TestDeadLetter_shows_any_bytes(t *testing.T) {
	d := newDesk(t)
	strange := letter(1)
	strange.Key, strange.Value = []byte("\xff"), []byte(`{"text":"Борщ"}`)
	strange.Headers = []consume.Header{
		{Key: "ce_id", Value: []byte("1")}, {Key: "ce_id", Value: []byte{}}, {Key: "\xfe"}, {Key: "", Value: []byte("a\x00\xff")},
	}
	d.want("GET", d.save(strange), "", 200, `"key":{"base64":"/w=="},"key_bytes":1,"value_bytes":19,"value":{"text":"{\"text\":\"Борщ\"}"},`+
		`"headers":[{"name":{"text":"ce_id"},"value":{"text":"1"}},{"name":{"text":"ce_id"},"value":{"text":""}},`+
		`{"name":{"base64":"/g=="},"value":null},{"name":{"text":""},"value":{"base64":"YQD/"}}]}`)
	bare := letter(2)
	bare.Key, bare.Value = nil, nil
	d.want("GET", d.save(bare), "", 200, `"key":null,"key_bytes":0,"value_bytes":0,"value":null,"headers":[]}`)
	empty := letter(3)
	empty.Value = []byte{}
	d.want("GET", d.save(empty), "", 200, `"value_bytes":0,"value":{"text":""},`)
	large := letter(4)
	large.Value = []byte(strings.Repeat("\xffя", 1<<20))
	path := d.save(large)
	if status, answer := d.call("GET", path, ""); status != 200 || len(answer) < 4<<20 {
		t.Errorf("%d with %d bytes", status, len(answer))
	}
	if status, answer := d.call("GET", list, ""); status != 200 || len(answer) > 4<<10 {
		t.Errorf("the list answers %d with %d bytes", status, len(answer))
	}
}

func TestBytes(t *testing.T) {
	for _, want := range []opshttp.Bytes{nil, {}, opshttp.Bytes("Борщ\x00"), {0xff}} {
		encoded, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := opshttp.Bytes("before")
		if err := json.Unmarshal(encoded, &got); err != nil || (got == nil) != (want == nil) || string(got) != string(want) {
			t.Errorf("%q became %s and then %q, error %v", want, encoded, got, err)
		}
	}
	for _, bad := range []string{`"text"`, `{}`, `{"text":"a","base64":"YQ=="}`, `{"base64":"?"}`} {
		var b opshttp.Bytes
		if err := json.Unmarshal([]byte(bad), &b); err == nil {
			t.Errorf("%s was read as %q", bad, b)
		}
	}
}

func TestRedrive(t *testing.T) {
	d := newDesk(t)
	path := d.save(letter(1))
	for range 3 {
		d.want("POST", path+"/redrive", "", 200, `"state":"redriven"`)
		if len(d.sent()) != 1 || d.woken == 0 {
			t.Fatalf("%d records sent, relay woken %d times", len(d.sent()), d.woken)
		}
	}
	d.want("POST", path+"/discard", `{"reason":"too late"}`, 409, `"code":"invalid_transition"`)
	spent := letter(2)
	spent.RedriveCount = ops.MaxRedrives
	d.want("POST", d.save(spent)+"/redrive", "", 409, `"code":"redrive_limit"`)
	large := letter(3)
	large.Value = make([]byte, 1<<20)
	d.want("POST", d.save(large)+"/redrive", "", 413, `"code":"payload_too_large"`)
	if len(d.sent()) != 1 {
		t.Errorf("%d records sent", len(d.sent()))
	}
}

func TestDiscard(t *testing.T) {
	d := newDesk(t)
	path := d.save(letter(1))
	for _, reason := range []string{`{}`, `{"reason":""}`, `{"reason":"` + strings.Repeat("ё", ops.MaxReason+1) + `"}`, `{"reason":"a","b":1}`} {
		d.want("POST", path+"/discard", reason, 400, `"code":"invalid_request"`)
	}
	d.want("POST", path+"/discard", "", 415, `"code":"unsupported_media_type"`)
	d.want("GET", path, "", 200, `"state":"open"`)
	longest := strings.Repeat("ё", ops.MaxReason)
	d.want("POST", path+"/discard", `{"reason":"`+longest+`"}`, 200, longest)
	d.want("POST", path+"/discard", `{"reason":"another"}`, 200, `"state":"discarded","reason":"`+longest+`"`)
	d.want("POST", path+"/redrive", "", 409, `"code":"dead_letter_discarded"`)
	if len(d.sent()) != 0 {
		t.Errorf("%d records sent", len(d.sent()))
	}
}

// TestOperators: nobody else gets to see or do anything, and what is not there is not there.
func TestOperators(t *testing.T) {
	d := newDesk(t)
	path := d.save(letter(1))
	unknown := list + "/" + uuid.NewString()
	for _, c := range []struct{ method, path, rest, body string }{
		{"GET", path, "", ""}, {"POST", path, "/redrive", ""}, {"POST", path, "/discard", `{"reason":"x"}`},
	} {
		d.want(c.method, unknown+c.rest, c.body, 404, `"code":"not_found"`)
		d.want(c.method, list+"/x"+c.rest, c.body, 404, `"code":"not_found"`)
		for _, role := range []auth.Role{auth.Customer, auth.Service} {
			other := d.client
			other.role = role
			other.want(c.method, c.path+c.rest, c.body, 403, `"code":"forbidden"`)
		}
	}
	customer := d.client
	customer.role = auth.Customer
	for _, path := range []string{list, "/v1/kitchen/overview", "/v1/kitchen/audit"} {
		customer.want("GET", path, "", 403, `"code":"forbidden"`)
	}
	d.want("GET", path, "", 200, `"state":"open"`)
	d.want("GET", "/v1/bonus/dead-letters", "", 404, `"code":"not_found"`)
	d.want("GET", "/v1/bonus/overview", "", 404, `"code":"not_found"`)
}
