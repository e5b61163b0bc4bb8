package publicnet_test

import (
	"net/http"
	"testing"
	"time"

	"parlance.dev/parlance/platform/publicnet"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Tue, 04 Aug 2026 10:00:00 GMT"
	rows := []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"none", http.Header{}, 0},
		{"seconds", http.Header{"Retry-After": {"1.5"}}, 1500 * time.Millisecond},
		{"milliseconds first", http.Header{"Retry-After": {"9"}, "Retry-After-Ms": {"20"}}, 20 * time.Millisecond},
		{"date", http.Header{"Retry-After": {"Tue, 04 Aug 2026 10:00:07 GMT"}, "Date": {date}}, 7 * time.Second},
		{"past date", http.Header{"Retry-After": {"Tue, 04 Aug 2026 09:00:00 GMT"}, "Date": {date}}, 0},
		{"date without clock", http.Header{"Retry-After": {date}}, 0},
		{"negative", http.Header{"Retry-After": {"-3"}}, 0},
		{"not a number", http.Header{"Retry-After": {"NaN"}}, 0},
		{"words", http.Header{"Retry-After": {"soon"}}, 0},
		{"infinite", http.Header{"Retry-After": {"1e999"}}, 24 * time.Hour},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := publicnet.RetryAfter(row.header); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
