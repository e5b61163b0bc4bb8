// Package localtime turns times on the wall of a place into moments, also on days when clocks are
// changed, and computes the runs of cron expressions by them.
package localtime

import (
	"regexp"
	"strings"
	"time"
)

// notZones matches the names beside IANA's that machines have zones of: their own ("Local"), and
// those of other clocks ("right/UTC" counts leap seconds).
var notZones = regexp.MustCompile(`^(|Local|localtime|posixrules|Factory|(posix|right)/.*)$`)

// Zone loads an IANA time zone. It returns false for names that are not, or not everywhere, one.
func Zone(name string) (*time.Location, bool) {
	if notZones.MatchString(name) {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

// layouts are the forms of a local time.
var layouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"}

// Parse reads RFC 3339, or a local time of a zone: 2026-12-01T09:00, also with seconds or with a
// space for the T.
func Parse(text string, zone *time.Location) (time.Time, bool) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return Moment(at, zone), true
		}
	}
	return time.Time{}, false
}

// Moment is when a clock on the wall of a zone shows the date and time of wall, whose own zone does
// not matter. A time that comes twice, because clocks are set back, is the first. One that does not
// exist, because they are set forward, is the moment at which they are.
func Moment(wall time.Time, zone *time.Location) time.Time {
	wall = Wall(wall)
	// With the offset of a day before, and of a day after: clocks are not changed twice in two days.
	before, after := offset(wall.Add(-24*time.Hour), zone), offset(wall.Add(24*time.Hour), zone)
	first, second := wall.Add(-before), wall.Add(-after)
	if second.Before(first) {
		first, second = second, first
	}
	for _, at := range []time.Time{first, second} {
		if Wall(at.In(zone)).Equal(wall) {
			return at.In(zone)
		}
	}
	return change(first, second, zone)
}

// offset is how far the clocks of a zone are ahead of UTC at about a time.
func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// change is the first moment between two at which clocks show another offset than at the first.
func change(from, until time.Time, zone *time.Location) time.Time {
	// A gap of a zone is skipped from its beginning to its end: the moment is within the gap's length
	// of both candidates.
	low, high := from.Add(-24*time.Hour), until.Add(24*time.Hour)
	was := offset(low, zone)
	for high.Sub(low) > time.Second {
		middle := low.Add(high.Sub(low) / 2).Truncate(time.Second)
		if !middle.After(low) {
			break
		}
		if offset(middle, zone) == was {
			low = middle
		} else {
			high = middle
		}
	}
	return high.Truncate(time.Second).In(zone)
}

// Wall is the date and time that at shows in its own zone, as a time in UTC.
func Wall(at time.Time) time.Time {
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	return time.Date(year, month, day, hour, minute, second, at.Nanosecond(), time.UTC)
}
