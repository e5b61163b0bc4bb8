package insights

import (
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/localtime"
)

// Step is the length of a step.
type Step string

// The steps.
const (
	Hour Step = "hour"
	Day  Step = "day"
)

const (
	// maxSteps bounds the steps of one answer.
	maxSteps = 1000
	// defaultSpan is how much is shown when nobody says since when.
	defaultSpan = 7 * 24 * time.Hour
	// maxHoursSpan is up to which span hours are shown when nobody says which steps.
	maxHoursSpan = 3 * 24 * time.Hour
)

// span is a time that is divided into steps.
type span struct {
	step Step
	zone *time.Location
	// bounds are where steps begin, and where the last one ends.
	bounds []time.Time
}

// spanOf divides the time from since until until into steps. The first is the one that since is in,
// the last the one that ends at until or has it within. Errors: Invalid invalid-request.
func spanOf(p ActivityParams, zone *time.Location, now time.Time) (span, error) {
	until, since := p.Until, p.Since
	if until.IsZero() {
		until = now
	}
	if since.IsZero() {
		since = until.Add(-defaultSpan)
	}
	if !sensible(since) {
		return span{}, fault.InvalidField("since", "range", "since must lie between the years 1970 and 9000.")
	}
	if !sensible(until) {
		return span{}, fault.InvalidField("until", "range", "until must lie between the years 1970 and 9000.")
	}
	if !since.Before(until) {
		return span{}, fault.InvalidField("since", "order", "since must be earlier than until.")
	}
	s := span{step: p.Step, zone: zone}
	if s.step == "" {
		s.step = Day
		if until.Sub(since) <= maxHoursSpan {
			s.step = Hour
		}
	}
	at := s.begin(since)
	for at.Before(until) {
		if len(s.bounds) == maxSteps {
			return span{}, fault.InvalidField("since", "range", "There are more than %d steps: ask for days, or for less time.", maxSteps)
		}
		s.bounds = append(s.bounds, at)
		at = s.next(at)
	}
	s.bounds = append(s.bounds, at)
	return s, nil
}

// sensible reports whether a time can be computed with and stored.
func sensible(at time.Time) bool { return at.Year() >= 1970 && at.Year() < 9000 }

// begin is the beginning of the step that a time is in.
func (s span) begin(at time.Time) time.Time {
	local := at.In(s.zone)
	if s.step == Day {
		return s.midnight(local.Date())
	}
	_, offset := local.Zone()
	ahead := time.Duration(offset) * time.Second
	return at.Add(ahead).Truncate(time.Hour).Add(-ahead).UTC()
}

// next is the beginning of the step after the one that begins at a time. A day may have 23 or 25
// hours. A date that a zone has left out is no day.
func (s span) next(at time.Time) time.Time {
	if s.step == Hour {
		return at.Add(time.Hour)
	}
	year, month, day := at.In(s.zone).Date()
	for days := 1; ; days++ {
		if next := s.midnight(year, month, day+days); next.After(at) {
			return next
		}
	}
}

// midnight is when a day begins.
func (s span) midnight(year int, month time.Month, day int) time.Time {
	return localtime.Moment(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), s.zone).UTC()
}

// days is the zone of which the steps are days; nil: they are hours.
func (s span) days() *time.Location {
	if s.step == Day {
		return s.zone
	}
	return nil
}
