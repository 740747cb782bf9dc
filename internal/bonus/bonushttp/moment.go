package bonushttp

import (
	"regexp"
	"slices"
	"time"

	"kuhnya/internal/fault"
)

// aboutMoments is for the authors of clients.
const aboutMoments = "`starts_at` and `ends_at` are RFC 3339 with an offset (`2026-04-01T00:00:00+03:00`), or, meant in the " +
	"campaign's `timezone`, a date-time without an offset (`2026-04-01T00:00:00`) or a date, which is its midnight " +
	"(`2026-04-01`). A local time that the clocks there skip, or show twice, because they are changed is refused: send it with " +
	"an offset. Both are kept to the microsecond and answered in UTC."

// firstYear and lastYear bound the moments that can be kept and shown.
const (
	firstYear = 1970
	lastYear  = 9999
)

// What moments look like; time.Parse is less strict.
var (
	absolute = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	local    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$`)
	date     = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
)

// readMoment reads a moment as operators write it. Without an offset it is meant in a time zone.
func readMoment(pointer, text, timezone string) (at time.Time, err error) {
	switch {
	case absolute.MatchString(text):
		at, err = readRFC3339(pointer, text)
	case local.MatchString(text):
		at, err = readLocal(pointer, text, timezone)
	case date.MatchString(text):
		at, err = readLocal(pointer, text+"T00:00:00", timezone)
	default:
		err = fault.Invalid(pointer, "must be a date, or a date-time with or without an offset, as in RFC 3339")
	}
	at = at.UTC().Truncate(time.Microsecond)
	if err == nil && (at.Year() < firstYear || at.Year() > lastYear) {
		err = fault.Invalid(pointer, "must be in the years %d to %d", firstYear, lastYear)
	}
	return at, err
}

func readRFC3339(pointer, text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		err = fault.Invalid(pointer, "is not a date and a time that the calendar has")
	}
	return at, err
}

// readLocal is the one moment at which the clocks of a time zone show a date and a time.
func readLocal(pointer, text, timezone string) (time.Time, error) {
	wall, err := readRFC3339(pointer, text+"Z")
	if err != nil {
		return wall, err
	}
	zone, err := time.LoadLocation(timezone)
	if err != nil || timezone == "" || timezone == "Local" {
		return wall, fault.Invalid("/timezone", "must be an IANA time zone such as Europe/Moscow")
	}
	switch at := moments(wall, zone); len(at) {
	case 1:
		return at[0], nil
	case 0:
		return wall, fault.Invalid(pointer, "does not exist in %s, where the clocks skip it: send it with an offset", timezone)
	default:
		return wall, fault.Invalid(pointer, "occurs twice in %s, where the clocks are put back: send it with an offset", timezone)
	}
}

// moments are those at which the clocks of a zone show what wall shows in UTC: none in the gap of clocks that are put
// forward, two where they are put back.
func moments(wall time.Time, zone *time.Location) (found []time.Time) {
	// Date is right about one of the offsets in force around a change of the clocks; the other one is next to it.
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	start, end := near.ZoneBounds()
	for _, around := range []time.Time{near, start.Add(-time.Nanosecond), end} {
		_, offset := around.Zone()
		at := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, there := at.Zone(); there == offset && !slices.ContainsFunc(found, at.Equal) {
			found = append(found, at)
		}
	}
	return found
}
