package bonushttp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kuhnya/internal/fault"
)

func TestReadMoment(t *testing.T) {
	for _, c := range []struct{ text, zone, want string }{
		// With an offset the zone doesn't matter.
		{"2026-04-01T00:00:00+05:30", "America/New_York", "2026-03-31T18:30:00Z"},
		{"2026-04-01T00:00:00Z", "nowhere", "2026-04-01T00:00:00Z"},
		{"2026-04-01T00:00:00.123456789Z", "UTC", "2026-04-01T00:00:00.123456Z"},
		{"2026-03-29T02:30:00+01:00", "Europe/Berlin", "2026-03-29T01:30:00Z"},
		// Without one it does.
		{"2026-04-01T00:00:00", "Asia/Kolkata", "2026-03-31T18:30:00Z"},
		{"2026-04-01", "Asia/Kolkata", "2026-03-31T18:30:00Z"},
		{"2026-04-01", "UTC", "2026-04-01T00:00:00Z"},
		{"2026-04-01", "Europe/Moscow", "2026-03-31T21:00:00Z"},
		{"2026-04-01T12:00:00.5", "Asia/Kathmandu", "2026-04-01T06:15:00.5Z"},
		{"2026-12-31T23:59:59", "Pacific/Kiritimati", "2026-12-31T09:59:59Z"},
		// On days on which the clocks are changed, too.
		{"2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00Z"},
		{"2026-03-29T01:59:59", "Europe/Berlin", "2026-03-29T00:59:59Z"},
		{"2026-03-29T03:00:00", "Europe/Berlin", "2026-03-29T01:00:00Z"},
		{"2026-10-25T01:59:59", "Europe/Berlin", "2026-10-24T23:59:59Z"},
		{"2026-10-25T03:00:00", "Europe/Berlin", "2026-10-25T02:00:00Z"},
		{"2026-10-26", "Europe/Berlin", "2026-10-25T23:00:00Z"},
		{"2026-10-04T01:59:59", "Australia/Lord_Howe", "2026-10-03T15:29:59Z"},
		{"2026-10-04T02:30:00", "Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
		{"2011-12-31", "Pacific/Apia", "2011-12-30T10:00:00Z"}, // the day after the one that was left out
		{"1970-01-01", "UTC", "1970-01-01T00:00:00Z"},
		{"9999-12-31T23:59:59", "UTC", "9999-12-31T23:59:59Z"},
	} {
		got, err := readMoment("/starts_at", c.text, c.zone)
		if err != nil || got.Format(time.RFC3339Nano) != c.want {
			t.Errorf("%s in %s: %s, %v, want %s", c.text, c.zone, got.Format(time.RFC3339Nano), err, c.want)
		}
	}
}

func TestReadMoment_refuses(t *testing.T) {
	for _, c := range []struct{ text, zone, pointer, says string }{
		{"2026-03-29T02:00:00", "Europe/Berlin", "/starts_at", "does not exist in Europe/Berlin"},
		{"2026-03-29T02:59:59", "Europe/Berlin", "/starts_at", "does not exist"},
		{"2026-10-25T02:00:00", "Europe/Berlin", "/starts_at", "occurs twice in Europe/Berlin"},
		{"2026-10-25T02:59:59", "Europe/Berlin", "/starts_at", "occurs twice"},
		{"2026-03-08T02:30:00", "America/New_York", "/starts_at", "does not exist"},
		{"2026-11-01T01:30:00", "America/New_York", "/starts_at", "occurs twice"},
		{"2026-10-04T02:15:00", "Australia/Lord_Howe", "/starts_at", "does not exist"},
		{"2026-04-05T01:45:00", "Australia/Lord_Howe", "/starts_at", "occurs twice"},
		{"2014-10-26T01:30:00", "Europe/Moscow", "/starts_at", "occurs twice"},     // what comes later is unlike what was before
		{"1985-12-31T23:30:00", "Pacific/Galapagos", "/starts_at", "occurs twice"}, // what was before is unlike what comes later
		{"2025-03-30", "Asia/Beirut", "/starts_at", "does not exist"},              // a midnight that the clocks skip
		{"2011-12-30T12:00:00", "Pacific/Apia", "/starts_at", "does not exist"},
		{"2026-04-01", "", "/timezone", "IANA"},
		{"2026-04-01", "Local", "/timezone", "IANA"},
		{"2026-04-01", "Moscow", "/timezone", "IANA"},
		{"2026-04-01", "../UTC", "/timezone", "IANA"},
		{"", "UTC", "/starts_at", "must be a date"},
		{"2026-4-1", "UTC", "/starts_at", "must be a date"},
		{"01.04.2026", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T0:00:00", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T00:00", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01 00:00:00", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T00:00:00,5", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T00:00:00+25:00", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T00:00:00+24:00", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T00:00:00-23:60", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T24:00:00", "UTC", "/starts_at", "calendar"},
		{"2026-04-31", "UTC", "/starts_at", "calendar"},
		{"2026-02-29", "UTC", "/starts_at", "calendar"},
		{"2026-04-01Z", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T00:00:00z", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01\n", "UTC", "/starts_at", "must be a date"},
		{"2026-04-01T00:00:60", "UTC", "/starts_at", "calendar"},
		{"+026-04-01", "UTC", "/starts_at", "must be a date"},
		{"1969-12-31T23:59:59", "UTC", "/starts_at", "1970 to 9999"},
		{"9999-12-31T23:59:59-01:00", "UTC", "/starts_at", "1970 to 9999"},
	} {
		_, err := readMoment("/starts_at", c.text, c.zone)
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Code != fault.InvalidRequest || len(refused.Pointers) != 1 ||
			refused.Pointers[0].Pointer != c.pointer || !strings.Contains(refused.Detail, c.says) {
			t.Errorf("%q in %q: %v, want %s and %q", c.text, c.zone, err, c.pointer, c.says)
		}
	}
}

// TestMoments looks around changes of clocks, where wall times are missing or twice.
func TestMoments(t *testing.T) {
	zones := []string{"Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/Godthab", "Asia/Tehran", "UTC"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(zones).Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "at"), 0).In(zone)
		if _, change := at.ZoneBounds(); !change.IsZero() {
			at = change
		}
		_, offset := at.Zone()
		off := time.Duration(offset+rapid.IntRange(-10_000, 10_000).Draw(t, "off")) * time.Second
		wall := at.UTC().Add(off)
		if got, want := len(moments(wall, zone)), shown(wall, zone); got != want {
			t.Errorf("%s in %s: %d moments, want %d", wall, name, got, want)
		}
	})
}

// shown counts the moments at which the clocks of a zone show a wall time, by trying every offset to the minute.
func shown(wall time.Time, zone *time.Location) (n int) {
	const layout = "2006-01-02 15:04:05"
	for offset := -26 * time.Hour; offset <= 26*time.Hour; offset += time.Minute {
		if wall.Add(-offset).In(zone).Format(layout) == wall.Format(layout) {
			n++
		}
	}
	return n
}
