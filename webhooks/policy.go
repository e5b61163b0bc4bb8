package webhooks

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// Policy says how deliveries are retried and when endpoints are disabled. Zero fields are
// DefaultPolicy's.
type Policy struct {
	// Schedule has the pause before each attempt, the first included, from the end of the attempt
	// before. Its length is the number of attempts.
	Schedule []time.Duration
	// Timeout bounds one attempt, the answer's body included.
	Timeout time.Duration
	// An endpoint is disabled after DisableFailures failed attempts in a row, when its last
	// success is longer ago than DisableWindow; one that never succeeded, when it is older than
	// DisableMinAge.
	DisableFailures int
	DisableWindow   time.Duration
	DisableMinAge   time.Duration
	// Requeue is how long deliveries count as queued: then Due returns them again, because Redis
	// may have lost their task.
	Requeue time.Duration
	// LeaseMargin is how long an attempt may take beyond its time-outs before its worker counts as
	// dead.
	LeaseMargin time.Duration
	// RecordTimeout bounds one try to record results. The recorder retries while their task lives.
	RecordTimeout time.Duration
	// MaxScanned is how many attempts a page of a filtered list scans.
	MaxScanned int
	// MaxReplay is how many events one call of Enable sends again.
	MaxReplay int
	// WatchCheck is how often Watch checks whether its reader may still read.
	WatchCheck time.Duration
	// MaxEndpoints is how many endpoints a workspace may have. Each event makes as many deliveries.
	MaxEndpoints int
}

// DefaultPolicy makes 11 attempts in 69 h. Source: decisions, Webhooks.
func DefaultPolicy() Policy {
	return Policy{
		Schedule: []time.Duration{
			0, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
			2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour,
		},
		Timeout:         15 * time.Second,
		DisableFailures: 10,
		DisableWindow:   7 * 24 * time.Hour,
		DisableMinAge:   24 * time.Hour,
		Requeue:         10 * time.Second,
		LeaseMargin:     15 * time.Second,
		RecordTimeout:   10 * time.Second,
		MaxScanned:      20_000,
		MaxReplay:       50_000,
		WatchCheck:      10 * time.Second,
		MaxEndpoints:    2_000,
	}
}

func (p Policy) withDefaults() Policy {
	defaults := DefaultPolicy()
	if len(p.Schedule) == 0 {
		p.Schedule = defaults.Schedule
	}
	p.Timeout = cmp.Or(p.Timeout, defaults.Timeout)
	p.DisableFailures = cmp.Or(p.DisableFailures, defaults.DisableFailures)
	p.DisableWindow = cmp.Or(p.DisableWindow, defaults.DisableWindow)
	p.DisableMinAge = cmp.Or(p.DisableMinAge, defaults.DisableMinAge)
	p.Requeue = cmp.Or(p.Requeue, defaults.Requeue)
	p.LeaseMargin = cmp.Or(p.LeaseMargin, defaults.LeaseMargin)
	p.RecordTimeout = cmp.Or(p.RecordTimeout, defaults.RecordTimeout)
	p.MaxScanned = cmp.Or(p.MaxScanned, defaults.MaxScanned)
	p.MaxReplay = cmp.Or(p.MaxReplay, defaults.MaxReplay)
	p.WatchCheck = cmp.Or(p.WatchCheck, defaults.WatchCheck)
	p.MaxEndpoints = cmp.Or(p.MaxEndpoints, defaults.MaxEndpoints)
	return p
}

const (
	// jitter is the part by which a pause is made longer or shorter. Source: decisions, Webhooks.
	jitter = 0.2
	// maxRetryAfter bounds an endpoint's Retry-After. Source: decisions, Webhooks.
	maxRetryAfter = time.Hour
)

// pause is how long to wait after a failed attempt (counted from 1); ok is false after the last
// one. chance is in [0, 1). An endpoint's Retry-After can make the pause longer, not shorter.
func (p Policy) pause(attempt int, retryAfter time.Duration, chance float64) (pause time.Duration, ok bool) {
	if attempt >= len(p.Schedule) {
		return 0, false
	}
	factor := 1 - jitter + 2*jitter*chance
	pause = time.Duration(float64(p.Schedule[attempt]) * factor)
	return max(pause, min(retryAfter, maxRetryAfter)), true
}

// gaveUp says whether the endpoint's failures disable it.
func (p Policy) gaveUp(e Endpoint, now time.Time) bool {
	if e.ConsecutiveFailures < p.DisableFailures {
		return false
	}
	if e.LastSuccessAt.IsZero() {
		return now.Sub(e.CreatedAt) > p.DisableMinAge
	}
	return now.Sub(e.LastSuccessAt) > p.DisableWindow
}

// retryAfter reads the Retry-After header, seconds or a date; 0 without a valid one.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil || errors.Is(err, strconv.ErrRange) { // then seconds is the nearest int
		return min(max(time.Duration(seconds), 0), maxRetryAfter/time.Second) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}
