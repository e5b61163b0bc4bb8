package publicnet

import (
	"net/http"
	"strconv"
	"time"
)

// maxRetryAfter replaces every longer wait, so that no header overflows a Duration.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns the wait that Retry-After-Ms or Retry-After asks for: 0 when there is none, at
// most 24 h. A date is compared with the Date of the answer, so the clocks need not agree.
func RetryAfter(header http.Header) time.Duration {
	if wait := parseWait(header.Get("Retry-After-Ms"), time.Millisecond); wait > 0 {
		return wait
	}
	value := header.Get("Retry-After")
	at, err := http.ParseTime(value)
	if err != nil {
		return parseWait(value, time.Second)
	}
	sent, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(maxRetryAfter, max(0, at.Sub(sent)))
}

// parseWait parses a number of units; 0 when value is not a number above 0.
func parseWait(value string, unit time.Duration) time.Duration {
	number, _ := strconv.ParseFloat(value, 64) // 0 for no number, infinity for one out of range
	switch {
	case number >= float64(maxRetryAfter/unit):
		return maxRetryAfter
	case number > 0:
		return time.Duration(number * float64(unit))
	}
	return 0
}
