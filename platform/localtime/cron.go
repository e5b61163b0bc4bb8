package localtime

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// parser reads five fields, and names such as @daily.
var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// everyHour is the bit with which package cron marks the hour field "*".
const everyHour = 1 << 63

// Cron is a cron expression in a time zone.
type Cron struct {
	spec *cron.SpecSchedule
	zone *time.Location
}

// ParseCron reads a cron expression of five fields (minute, hour, day of the month, month, day of
// the week), or @hourly, @daily, @weekly, @monthly, @yearly.
func ParseCron(text string, zone *time.Location) (Cron, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		return Cron{}, errors.New("it must not name a time zone, which has a field of its own")
	}
	if strings.HasPrefix(text, "@every") {
		return Cron{}, errors.New("@every has no times on the clock; use fields such as */30 * * * *")
	}
	parsed, err := parser.Parse(text)
	if err != nil {
		return Cron{}, fmt.Errorf("it is no cron expression: %w", err)
	}
	spec, is := parsed.(*cron.SpecSchedule)
	if !is {
		return Cron{}, errors.New("it has no times on the clock")
	}
	spec.Location = time.UTC
	return Cron{spec: spec, zone: zone}, nil
}

// Next is the first run after a moment; false: there is none within five years.
//
// A run at a local time that does not exist, because clocks are set forward, is at the moment when
// they are. One at a time that comes twice is at the first. So there is one run for each day that
// the expression names. An expression for every hour runs each hour that passes, so it has no run
// for an hour that does not exist; but one where clocks skip only a part of the hour.
func (c Cron) Next(after time.Time) (time.Time, bool) {
	if c.spec.Hour&everyHour != 0 {
		return c.nextHourly(after)
	}
	// The day before, because a local time may be that of a moment long before or after it.
	wall := Wall(after.In(c.zone)).Add(-24 * time.Hour)
	for {
		wall = c.spec.Next(wall)
		if wall.IsZero() {
			return time.Time{}, false
		}
		if at := Moment(wall, c.zone); at.After(after) {
			return at, true
		}
	}
}

// nextHourly is Next of an expression for every hour.
func (c Cron) nextHourly(after time.Time) (time.Time, bool) {
	spec := *c.spec
	spec.Location = c.zone
	next := spec.Next(after.In(c.zone))
	if next.IsZero() {
		return time.Time{}, false
	}
	skipped := Moment(c.spec.Next(Wall(after.In(c.zone))), c.zone)
	if skipped.After(after) && skipped.Before(next) && jump(skipped) < time.Hour {
		return skipped, true
	}
	return next, true
}

// jump is by how much clocks are set forward at a moment.
func jump(at time.Time) time.Duration {
	return Wall(at).Sub(Wall(at.Add(-time.Second))) - time.Second
}
