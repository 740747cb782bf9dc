package trace

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

// form is a traceparent (https://www.w3.org/TR/trace-context/, section 3.2): version, trace id, span id, flags. Versions
// after 00 may go on behind another dash.
var form = regexp.MustCompile(`(?s)^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$`)

const (
	version = "00"
	// sampled says that whoever hands the traceparent on keeps something of the trace, as our log does.
	sampled, unsampled = "01", "00"
)

// New returns the traceparent of a trace that begins here.
func New() string { return join(random(16), sampled) }

// Child returns the traceparent of work that another traceparent led to: of the same trace, with a span of its own, as
// much sampled as that one. An invalid one, as an absent one, leads to a trace that begins here.
func Child(traceparent string) string {
	traceID, flags, ok := parse(traceparent)
	if !ok {
		return New()
	}
	return join(traceID, flags)
}

// ID returns the trace id of a traceparent, 32 hexadecimal digits, or "" if it is invalid.
func ID(traceparent string) string {
	traceID, _, _ := parse(traceparent)
	return traceID
}

// parse reads a traceparent of any version, as the standard asks for: of later ones what they have in common with 00.
// Of the flags only the one that every version knows is kept.
func parse(traceparent string) (traceID, flags string, ok bool) {
	m := form.FindStringSubmatch(traceparent)
	if m == nil || m[1] == "ff" || m[1] == version && m[5] != "" || zero(m[2]) || zero(m[3]) {
		return "", "", false
	}
	if strings.ContainsRune("13579bdf", rune(m[4][1])) {
		return m[2], sampled, true
	}
	return m[2], unsampled, true
}

func zero(id string) bool { return strings.Trim(id, "0") == "" }

func join(traceID, flags string) string {
	return version + "-" + traceID + "-" + random(8) + "-" + flags
}

func random(bytes int) string {
	id := make([]byte, bytes)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}
