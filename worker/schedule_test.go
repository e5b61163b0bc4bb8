package worker

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestLogRun logs a lasting failure once a minute, and once that it is over.
func TestLogRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	w := &Worker{log: slog.New(slog.NewTextHandler(&out, nil)), now: func() time.Time { return now }}
	var logged time.Time
	for range 90 {
		logged = w.logRun(t.Context(), "relay", errors.New("database is away"), logged)
		now = now.Add(time.Second)
	}
	for range 3 {
		logged = w.logRun(t.Context(), "relay", nil, logged)
	}
	if failed, on := strings.Count(out.String(), "periodic work failed"), strings.Count(out.String(),
		"periodic work succeeds again"); failed != 2 || on != 1 {
		t.Errorf("%d times failed and %d times going on, want 2 and 1:\n%s", failed, on, out.String())
	}
}
