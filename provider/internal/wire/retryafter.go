package wire

import (
	"net/http"
	"strconv"
	"time"
)

// maxAsked stands for every longer wait, so that no header overflows a Duration.
const maxAsked = 24 * time.Hour

// RetryAfter reads Retry-After-Ms and Retry-After (seconds, or a date, which is measured
// against the answer's own Date so that our clocks need not agree). 0 when there is none, at
// most 24 h.
func RetryAfter(header http.Header) time.Duration {
	if asked := amount(header.Get("Retry-After-Ms"), time.Millisecond); asked > 0 {
		return asked
	}
	value := header.Get("Retry-After")
	at, err := http.ParseTime(value)
	if err != nil {
		return amount(value, time.Second)
	}
	sent, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(maxAsked, max(0, at.Sub(sent)))
}

// amount is a number of units; 0 for what is no number, or none above 0.
func amount(value string, unit time.Duration) time.Duration {
	number, _ := strconv.ParseFloat(value, 64) // 0 for no number, infinity for one out of range
	switch {
	case number >= float64(maxAsked/unit):
		return maxAsked
	case number > 0:
		return time.Duration(number * float64(unit))
	}
	return 0
}
