package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
	"kuhnya/internal/opsclient"
)

func deadLetters(services ...string) (letters []opshttp.DeadLetter) {
	for i, service := range services {
		letters = append(letters, opshttp.DeadLetter{
			ID: httpapi.ID(uuid.UUID{15: byte(i)}), Service: service, Topic: "t", Offset: int64(i), State: ops.Open, ErrorCode: "not_found",
		})
	}
	return letters
}

// try runs a round in which do decides by the number of the dead letter.
func try(ctx context.Context, letters []opshttp.DeadLetter, do func(i int) error) (r round, lines []string, err error) {
	var out strings.Builder
	r = round{out: &out, letters: letters, deed: deed{
		done: "sent", already: "sent before", not: "not sent", state: ops.Redriven,
		do: func(_ context.Context, l opshttp.DeadLetter) error { return do(int(l.Offset)) },
	}}
	err = r.run(ctx)
	return r, strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

var limit = &opsclient.Refusal{Problem: httpapi.Problem{Status: 409, Code: fault.RedriveLimit, Title: "Redrive limit reached", Detail: "Five times."}}

func TestRound_goes_on_after_a_refusal(t *testing.T) {
	letters := deadLetters("kitchen", "kitchen", "kitchen", "kitchen")
	letters[3].State = ops.Redriven
	r, lines, err := try(t.Context(), letters, func(i int) error {
		if i == 1 {
			return limit
		}
		return nil
	})
	if r.succeeded != 2 || r.refused != 1 || r.before != 1 || r.left() != 0 || err == nil || len(lines) != 5 {
		t.Errorf("%+v, error %v", r, err)
	}
	for i, end := range []string{": sent", ": not sent: Redrive limit reached: Five times.", ": sent", ": sent before", "2 sent, 1 sent before, 1 not sent; asked "} {
		if !strings.HasSuffix(lines[i], end) {
			t.Errorf("line %q, want …%q", lines[i], end)
		}
	}
	if want := "1/4 00000000-0000-0000-0000-000000000000 kitchen t/0/0 not_found: sent"; lines[0] != want {
		t.Errorf("line %q, want %q", lines[0], want)
	}
}

// TestRound_lets_nothing_overtake: what could not be sent may have the same key as what comes after it.
func TestRound_lets_nothing_overtake(t *testing.T) {
	for name, failure := range map[string]error{
		"no answer":  fmt.Errorf("%w from http://here", opsclient.ErrNoAnswer),
		"503":        &opsclient.Refusal{Problem: httpapi.Problem{Status: 503}},
		"not signed": &opsclient.Refusal{Problem: httpapi.Problem{Status: 401}},
	} {
		t.Run(name, func(t *testing.T) {
			var tried []int
			r, lines, err := try(t.Context(), deadLetters("kitchen", "kitchen", "establishment", "kitchen", "establishment"), func(i int) error {
				tried = append(tried, i)
				if i == 1 {
					return failure
				}
				return nil
			})
			if fmt.Sprint(tried) != "[0 1 2 4]" || r.left() != 2 || err == nil || err.Error() != "2 of 5 not sent" {
				t.Errorf("tried %v, left %d, error %v", tried, r.left(), err)
			}
			if !strings.Contains(lines[1], "leaving the rest of kitchen") || !strings.Contains(lines[4], "3 sent, 2 left") {
				t.Errorf("%q", lines)
			}
		})
	}
}

func TestRound_stops_between_two(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	r, lines, err := try(ctx, deadLetters("kitchen", "kitchen", "kitchen"), func(i int) error {
		if i == 1 {
			interrupt()
		}
		return nil
	})
	if r.succeeded != 2 || r.left() != 1 || err == nil || !strings.HasPrefix(err.Error(), "stopped after 2 of 3") || !strings.HasPrefix(lines[2], "2 sent, 1 left") {
		t.Errorf("%+v, %q, error %v", r, lines, err)
	}
}

func TestRound_without_work(t *testing.T) {
	_, lines, err := try(t.Context(), nil, func(int) error { return errors.New("never") })
	if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "0 sent; ") {
		t.Errorf("%q, error %v", lines, err)
	}
}

func TestRedriveCheck(t *testing.T) {
	id := []httpapi.ID{{}}
	for name, c := range map[string]struct {
		cmd  dlqRedriveCmd
		good bool
	}{
		"nothing":          {dlqRedriveCmd{}, false},
		"ids":              {dlqRedriveCmd{IDs: id, DryRun: true}, true},
		"all":              {dlqRedriveCmd{All: true, Service: "kitchen", Code: "not_found", Max: new(1)}, true},
		"both":             {dlqRedriveCmd{All: true, IDs: id}, false},
		"ids of a code":    {dlqRedriveCmd{IDs: id, Code: "not_found"}, false},
		"none at the most": {dlqRedriveCmd{All: true, Max: new(0)}, false},
	} {
		if err := c.cmd.check(); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"Борщ 🍲 \t\n":    "Борщ 🍲 \t\n",
		"\x1b[2J\r\x00":  `\u001b[2J\u000d\u0000`,
		"\u009b31m\x7f":  `\u009b31m\u007f`, // C1 controls are legal in JSON, and terminals obey them
		"a\u202eb\ufeff": `a\u202eb\ufeff`,
		"\U000e0041":     `\udb40\udc41`,
	} {
		got := printable(text, "\n\t")
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		var back string
		quoted := strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(got)
		if err := json.Unmarshal([]byte(`"`+quoted+`"`), &back); err != nil || back != text {
			t.Errorf("%q reads back as %q, error %v", got, back, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	letter := opshttp.WholeDeadLetter{DeadLetter: deadLetters("kitchen")[0], Value: opshttp.Bytes("{\"a\":[1,\"\u009b\"]}")}
	letter.ErrorMessage, letter.FailedAt = "a\x1b[2Jb", time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	letter.Headers = []opshttp.RecordHeader{{Name: opshttp.Bytes("n\n"), Value: nil}, {Name: opshttp.Bytes{0xff}, Value: opshttp.Bytes{}}}
	text := describe(letter)
	for _, want := range []string{
		"code       not_found\nerror      a\\u001b[2Jb\n", "header     n\\u000a: (none)\n", "header     (base64) /w==: \n", "key        (none)\n", "failed at  2026-03-31T23:59:59Z\n",
		"{\n\t\"a\": [\n\t\t1,\n\t\t\"\\u009b\"\n\t]\n}\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	for value, want := range map[string]string{"{": "{", "\xff": "(base64) /w==", "": ""} {
		if got := showValue([]byte(value)); got != want {
			t.Errorf("value %q is shown as %q, want %q", value, got, want)
		}
	}
	if got := showValue(nil); got != "(none)" {
		t.Errorf("no value is shown as %q", got)
	}
}
