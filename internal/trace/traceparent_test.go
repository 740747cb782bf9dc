package trace_test

import (
	"regexp"
	"strings"
	"testing"

	"kuhnya/internal/trace"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
	given   = "00-" + traceID + "-" + spanID + "-01"
)

// valid is what may leave the package: version 00, no zero id, no flag but sampled.
var valid = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$`)

func TestChild_joins_the_trace(t *testing.T) {
	for name, traceparent := range map[string]string{
		"version 00":                   given,
		"a later version":              "cc-" + traceID + "-" + spanID + "-01",
		"the last version":             "fe-" + traceID + "-" + spanID + "-01",
		"a later version that goes on": "cc-" + traceID + "-" + spanID + "-01-what\nthe-future-\xff",
		"flags that nobody knows":      "00-" + traceID + "-" + spanID + "-ff",
	} {
		t.Run(name, func(t *testing.T) {
			child := trace.Child(traceparent)
			if !valid.MatchString(child) || trace.ID(child) != traceID || trace.ID(traceparent) != traceID {
				t.Errorf("child %q", child)
			}
			if strings.Contains(child, spanID) || trace.Child(traceparent) == child {
				t.Errorf("the span of %q is not its own", child)
			}
		})
	}
}

func TestChild_is_sampled_as_its_parent_is(t *testing.T) {
	for flags, want := range map[string]string{"00": "-00", "01": "-01", "02": "-00", "03": "-01", "fe": "-00", "1f": "-01", "0a": "-00"} {
		if child := trace.Child("00-" + traceID + "-" + spanID + "-" + flags); !strings.HasSuffix(child, want) {
			t.Errorf("child of one with flags %s: %s", flags, child)
		}
	}
}

// TestChild_begins_a_trace has the bad values of W3C's own test suite, and more.
func TestChild_begins_a_trace(t *testing.T) {
	for name, traceparent := range map[string]string{
		"nothing":                        "",
		"another thing":                  "hello",
		"version ff":                     "ff-" + traceID + "-" + spanID + "-01",
		"version of one digit":           "0-" + traceID + "-" + spanID + "-01",
		"version of three digits":        "000-" + traceID + "-" + spanID + "-01",
		"version that is no number":      ".0-" + traceID + "-" + spanID + "-01",
		"upper-case version":             "CC-" + traceID + "-" + spanID + "-01",
		"no version":                     traceID + "-" + spanID + "-01",
		"upper-case trace id":            "00-" + strings.ToUpper(traceID) + "-" + spanID + "-01",
		"zero trace id":                  "00-" + strings.Repeat("0", 32) + "-" + spanID + "-01",
		"short trace id":                 "00-" + traceID[1:] + "-" + spanID + "-01",
		"long trace id":                  "00-0" + traceID + "-" + spanID + "-01",
		"trace id that is no number":     "00-" + traceID[1:] + ".-" + spanID + "-01",
		"upper-case span id":             "00-" + traceID + "-" + strings.ToUpper(spanID) + "-01",
		"zero span id":                   "00-" + traceID + "-" + strings.Repeat("0", 16) + "-01",
		"short span id":                  "00-" + traceID + "-" + spanID[1:] + "-01",
		"long span id":                   "00-" + traceID + "-0" + spanID + "-01",
		"zero span id of the future":     "cc-" + traceID + "-" + strings.Repeat("0", 16) + "-01",
		"no flags":                       "00-" + traceID + "-" + spanID,
		"empty flags":                    "00-" + traceID + "-" + spanID + "-",
		"flags of one digit":             "00-" + traceID + "-" + spanID + "-1",
		"flags of three digits":          "00-" + traceID + "-" + spanID + "-001",
		"flags that are no number":       "00-" + traceID + "-" + spanID + "-.0",
		"upper-case flags":               "00-" + traceID + "-" + spanID + "-0A",
		"a tail":                         given + "-what-the-future-will-be-like",
		"an empty tail":                  given + "-",
		"a tail of the future, undashed": "cc-" + traceID + "-" + spanID + "-01.what-the-future-will-not-be-like",
		"spaces around":                  " " + given + " ",
		"a line break behind":            given + "\n",
		"two of them":                    given + "," + given,
		"underscores":                    strings.ReplaceAll(given, "-", "_"),
		"NUL in it":                      "00-" + traceID[1:] + "\x00-" + spanID + "-01",
	} {
		t.Run(name, func(t *testing.T) {
			begun := trace.Child(traceparent)
			if !valid.MatchString(begun) || trace.ID(begun) == traceID || trace.ID(traceparent) != "" {
				t.Errorf("%q leads to %q, its id is %q", traceparent, begun, trace.ID(traceparent))
			}
		})
	}
}

func TestNew_is_another_trace_each_time(t *testing.T) {
	first, second := trace.New(), trace.New()
	if !valid.MatchString(first) || !strings.HasSuffix(first, "-01") || trace.ID(first) == trace.ID(second) {
		t.Errorf("%s, %s", first, second)
	}
}

func FuzzChild(f *testing.F) {
	f.Add(given)
	f.Add("cc-" + traceID + "-" + spanID + "-01-more")
	f.Add("")
	f.Fuzz(func(t *testing.T, traceparent string) {
		child, id := trace.Child(traceparent), trace.ID(traceparent)
		if !valid.MatchString(child) || trace.ID(child) == "" {
			t.Fatalf("%q has the child %q", traceparent, child)
		}
		if joined := trace.ID(child) == id; joined != (id != "") {
			t.Fatalf("%q has the id %q, its child %q", traceparent, id, child)
		}
		if id != "" && (len(traceparent) < 55 || traceparent[3:35] != id || traceparent[:2] == "00" && len(traceparent) > 55) {
			t.Fatalf("%q was taken for valid", traceparent)
		}
	})
}
