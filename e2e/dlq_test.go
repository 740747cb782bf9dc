package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestDeadLetterCommands(t *testing.T) {
	keep(t,
		promise{"what can't ask says so on one line and creates nothing", dlqRefusals},
		promise{"where nobody listens is named", dlqNobody},
		promise{"dead letters are listed, shown and counted", dlqList},
		promise{"a dry run changes nothing, and --max takes the first ones", dlqDryRun},
		promise{"records of a key are sent again in their original order", dlqOrder},
		promise{"one that can't be sent again does not stop the rest", dlqLimit},
		promise{"discarding is safe to repeat", dlqDiscard},
	)
}

// dlq runs a command about dead letters against processes.
func (s *site) dlq(t testing.TB, urls string, args ...string) result {
	t.Helper()
	return command(t, append([]string{"dlq"}, append(args, "--data", s.data, "--url", urls)...)...)
}

// counter is a process of one test, and what the command line makes of its dead letters.
type counter struct {
	*site
	bus bus
}

func newCounter(t *testing.T) counter {
	s := soloSite(t, "--kafka-addr", "127.0.0.1:0")
	return counter{s, s.bus(t)}
}

// run runs a command that must end with an exit code, and returns its lines but the last, and the last one.
func (c counter) run(t testing.TB, code int, args ...string) (lines []string, last string) {
	t.Helper()
	r := c.dlq(t, c.kitchen.url, args...)
	if r.code != code || (code == 0) != (r.stderr == "") {
		t.Fatalf("dlq %v: exit code %d, want %d\n%s%s", args, r.code, code, r.stdout, r.stderr)
	}
	lines = strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// bury sends records that kitchen can't apply, and waits until they are dead letters.
func (c counter) bury(t *testing.T, records ...*kgo.Record) {
	t.Helper()
	for _, r := range records {
		c.bus.send(t, r)
	}
	c.bus.settleStatuses(t)
}

// items are the dead letters in a state, as the command prints them for programs.
func (c counter) items(t testing.TB, state string) []deadLetter {
	t.Helper()
	_, text := c.run(t, 0, "list", "--json", "--state", state)
	var found struct {
		Items    []deadLetter
		Services []string
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil || !slices.Contains(found.Services, "kitchen") {
		t.Fatalf("%s: %v", text, err)
	}
	return found.Items
}

// callbackOf is a callback for an order that nobody placed.
func callbackOf(order, status string) *kgo.Record {
	return &kgo.Record{Topic: statusesTopic, Key: []byte(order), Value: encode(callback{order, uuid.NewString(), status, ""})}
}

func dlqRefusals(t *testing.T) {
	id := uuid.NewString()
	for name, args := range map[string][]string{
		"no command":       {},
		"list without key": {"list"},
		"no URL":           {"list", "--token", "t", "--url", "127.0.0.1:8080"},
		"unknown service":  {"list", "--token", "t", "--service", "bar"},
		"unknown state":    {"list", "--token", "t", "--state", "lost"},
		"show nothing":     {"show", "--token", "t"},
		"show no id":       {"show", "--token", "t", "x"},
		"redrive nothing":  {"redrive", "--token", "t"},
		"redrive no id":    {"redrive", "--token", "t", id, "x"},
		"redrive both":     {"redrive", "--token", "t", "--all", id},
		"redrive none":     {"redrive", "--token", "t", "--all", "--max", "0"},
		"ids and a code":   {"redrive", "--token", "t", "--code", "not_found", id},
		"discard nothing":  {"discard", "--token", "t", "--reason", "x"},
		"no reason":        {"discard", "--token", "t", id},
	} {
		t.Run(name, func(t *testing.T) {
			data := absent(t)
			wantRefused(t, command(t, append(append([]string{"dlq"}, args...), "--data", data)...))
			wantNothingWritten(t, data)
		})
	}
	t.Run("a folder without a key gets none", func(t *testing.T) {
		data := t.TempDir()
		r := command(t, "dlq", "redrive", "--all", "--data", data)
		wantRefused(t, r)
		if left, err := os.ReadDir(data); err != nil || len(left) > 0 || !strings.Contains(r.stderr, data) {
			t.Errorf("%v, error %v, %s", left, err, r.stderr)
		}
	})
	t.Run("a damaged key", func(t *testing.T) {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, "auth.key"), []byte("short"), 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, command(t, "dlq", "list", "--data", data))
	})
	t.Run("a token of another deployment, and of a customer", func(t *testing.T) {
		s := sharedSite(t)
		for token, why := range map[string]string{"x.y.z": "Not authenticated", s.customer(t, "alice").token: "Not allowed"} {
			r := command(t, "dlq", "list", "--url", s.kitchen.url, "--token", token)
			wantRefused(t, r)
			if !strings.Contains(r.stderr, why) {
				t.Errorf("%s", r.stderr)
			}
		}
	})
}

func dlqNobody(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	listener.Close()
	for _, args := range [][]string{{"list"}, {"show", uuid.NewString()}, {"redrive", "--all"}, {"discard", uuid.NewString(), "--reason", "x"}} {
		r := sharedSite(t).dlq(t, url, args...)
		wantRefused(t, r)
		if !strings.Contains(r.stderr, url) || !strings.Contains(r.stderr, "refused") {
			t.Errorf("%v: %s", args, r.stderr)
		}
	}
}

func dlqList(t *testing.T) {
	c := newCounter(t)
	if lines, last := c.run(t, 0, "list"); len(lines) != 0 || !strings.HasPrefix(last, "0 open; asked kitchen, establishment") {
		t.Errorf("%q, %q", lines, last)
	}
	order := uuid.NewString()
	c.bury(t, poison(statusesTopic, "\x1b[2J", kgo.RecordHeader{Key: "evil\n", Value: []byte("\xff")}), callbackOf(order, "accepted"))
	lines, last := c.run(t, 0, "list")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "ID ") || !strings.HasPrefix(last, "2 open; ") {
		t.Fatalf("%q, %q", lines, last)
	}
	items := c.items(t, "open")
	for i, l := range items {
		for _, cell := range []string{l.ID, "kitchen", fmt.Sprintf("%s/%d/%d", l.Topic, l.Partition, l.Offset), l.ErrorCode} {
			if !strings.Contains(lines[i+1], cell) {
				t.Errorf("%q is not in %q", cell, lines[i+1])
			}
		}
	}
	// What strangers wrote reaches no terminal as it is.
	at := slices.IndexFunc(items, func(l deadLetter) bool { return l.ErrorCode == "invalid_request" })
	r := c.dlq(t, c.kitchen.url, "show", items[at].ID)
	if r.code != 0 || strings.Contains(r.stdout, "\x1b") || !utf8.ValidString(r.stdout) || !strings.Contains(r.stdout, `\u001b[2J`) || !strings.Contains(r.stdout, `evil\u000a: (base64) /w==`) {
		t.Errorf("exit code %d: %q", r.code, r.stdout)
	}
	r = c.dlq(t, c.kitchen.url, "show", items[1-at].ID)
	if r.code != 0 || !strings.Contains(r.stdout, "\t\"order_id\": \""+order+"\"") || !strings.Contains(r.stdout, "not_found: ") {
		t.Errorf("exit code %d: %s", r.code, r.stdout)
	}
	_, text := c.run(t, 0, "show", "--json", items[1-at].ID)
	var shown deadLetter
	if err := json.Unmarshal([]byte(text), &shown); err != nil || shown.OrderID != order || !strings.Contains(*shown.Value.Text, order) {
		t.Errorf("%v: %s", err, text)
	}
	c.run(t, 1, "show", uuid.NewString())
	c.run(t, 0, "discard", items[0].ID, "--reason", "a test")
	if _, last := c.run(t, 0, "list", "--state", "all"); !strings.HasPrefix(last, "1 open, 0 redriven, 1 discarded; ") {
		t.Errorf("%q", last)
	}
	if lines, last := c.run(t, 0, "list", "--service", "establishment"); len(lines) != 0 || last != "0 open; asked establishment" {
		t.Errorf("%q, %q", lines, last)
	}
}

func dlqDryRun(t *testing.T) {
	c := newCounter(t)
	for range 3 {
		c.bury(t, callbackOf(uuid.NewString(), "accepted"))
	}
	c.bury(t, poison(statusesTopic, uuid.NewString()))
	before, ends := c.items(t, "all"), c.bus.ends(t, statusesTopic)
	lines, last := c.run(t, 0, "redrive", "--all", "--dry-run")
	if len(lines) != 4 || !strings.HasSuffix(lines[0], ": would be sent") || !strings.HasPrefix(last, "4 would be sent; ") {
		t.Errorf("%q, %q", lines, last)
	}
	if lines, _ := c.run(t, 0, "redrive", "--dry-run", before[0].ID); len(lines) != 1 {
		t.Errorf("%q", lines)
	}
	c.bus.settleStatuses(t)
	if diff := cmp.Diff(before, c.items(t, "all")); diff != "" {
		t.Errorf("changed by a dry run:\n%s", diff)
	}
	if diff := cmp.Diff(ends, c.bus.ends(t, statusesTopic)); diff != "" {
		t.Errorf("sent by a dry run:\n%s", diff)
	}

	lines, _ = c.run(t, 0, "redrive", "--all", "--max", "2", "--code", "not_found")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "1/2 "+before[0].ID) || !strings.HasPrefix(lines[1], "2/2 "+before[1].ID) {
		t.Errorf("%q", lines)
	}
	eventually(t, "two that failed again", func() bool { return len(c.items(t, "open")) == 4 })
	if redriven := c.items(t, "redriven"); len(redriven) != 2 || redriven[0].ID != before[0].ID || redriven[1].ID != before[1].ID {
		t.Errorf("sent again: %+v", redriven)
	}
}

func dlqOrder(t *testing.T) {
	c := newCounter(t)
	orders := []string{uuid.NewString(), uuid.NewString(), uuid.NewString()}
	for _, status := range []string{"accepted", "cooking", "ready", "completed"} {
		for _, order := range orders {
			c.bury(t, callbackOf(order, status))
		}
	}
	var ids []string // of the last order, backwards
	for _, l := range c.items(t, "open") {
		if l.OrderID == orders[2] {
			ids = append([]string{l.ID}, ids...)
		}
	}
	ids = append(ids, ids[0]) // twice
	if lines, _ := c.run(t, 0, append([]string{"redrive"}, ids...)...); len(lines) != 4 {
		t.Errorf("%q", lines)
	}
	c.run(t, 0, "redrive", "--all", "--code", "not_found")
	for _, order := range orders {
		c.wantAgainInOrder(t, order)
	}
	// To say it again does no harm.
	if lines, last := c.run(t, 0, append([]string{"redrive"}, ids...)...); len(lines) != 4 || !strings.HasPrefix(last, "0 sent, 4 sent before; ") {
		t.Errorf("%q, %q", lines, last)
	}
}

// wantAgainInOrder wants what was sent for an order to be on the topic again: the first time it was all sent again, in
// the order in which it was sent at first.
func (c counter) wantAgainInOrder(t *testing.T, order string) {
	t.Helper()
	var again []string
	eventually(t, "four records once more", func() bool {
		again = nil
		for _, r := range c.bus.of(t, statusesTopic, order) {
			if header(r, "x-dlq-redrive-count") == "1" {
				again = append(again, into[callback](t, response{body: r.Value}).Status)
			}
		}
		return len(again) >= 4
	})
	if diff := cmp.Diff([]string{"accepted", "cooking", "ready", "completed"}, again); diff != "" {
		t.Errorf("sent again (-want +got):\n%s", diff)
	}
}

// dlqLimit has a record that says of itself that it was sent again five times.
func dlqLimit(t *testing.T) {
	c := newCounter(t)
	order := uuid.NewString()
	c.bury(t, poison(statusesTopic, order), poison(statusesTopic, order, withHeader("x-dlq-redrive-count", "5")), poison(statusesTopic, order))
	lines, last := c.run(t, 0, "redrive", "--all", "--dry-run")
	if len(lines) != 3 || !strings.Contains(lines[1], "would not be sent: redrive_limit") || !strings.HasPrefix(last, "2 would be sent, 1 would not be sent; ") {
		t.Errorf("%q, %q", lines, last)
	}
	unknown := uuid.NewString()
	before := c.items(t, "open")
	lines, last = c.run(t, 1, "redrive", unknown, before[0].ID, before[1].ID, before[2].ID)
	want := []string{"no dead letter " + unknown, ": sent", "not sent: Redrive limit reached: ", ": sent"}
	if len(lines) != len(want) || !strings.HasPrefix(last, "2 sent, 1 not sent, 1 unknown; ") {
		t.Fatalf("%q, %q", lines, last)
	}
	for i, text := range want {
		if !strings.Contains(lines[i], text) {
			t.Errorf("%q is not in %q", text, lines[i])
		}
	}
}

func dlqDiscard(t *testing.T) {
	c := newCounter(t)
	c.bury(t, poison(statusesTopic, uuid.NewString()), poison(statusesTopic, uuid.NewString()))
	items := c.items(t, "open")
	c.run(t, 0, "redrive", items[0].ID)
	lines, last := c.run(t, 1, "discard", "--reason", "a test", items[0].ID, items[1].ID)
	if len(lines) != 2 || !strings.Contains(lines[0], "not discarded: Invalid transition: ") || !strings.HasSuffix(lines[1], ": discarded") {
		t.Errorf("%q, %q", lines, last)
	}
	if lines, _ = c.run(t, 0, "discard", "--reason", "another", items[1].ID); !strings.HasSuffix(lines[0], ": discarded before") {
		t.Errorf("%q", lines)
	}
	if discarded := c.items(t, "discarded"); len(discarded) != 1 || discarded[0].Reason != "a test" {
		t.Errorf("%+v", discarded)
	}
	lines, _ = c.run(t, 1, "redrive", items[1].ID)
	if !strings.Contains(lines[0], "not sent: Dead letter discarded: ") {
		t.Errorf("%q", lines)
	}
	open := c.items(t, "open") // what was sent again
	if lines, _ = c.run(t, 1, "discard", "--reason", "", open[0].ID); !strings.Contains(lines[0], "/reason") {
		t.Errorf("%q", lines)
	}
}
