package worker

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestSay: an outage is a line a minute for each work, and one when it is over.
func TestSay(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	w := &Worker{log: slog.New(slog.NewTextHandler(&out, nil)), now: func() time.Time { return now }}
	var said time.Time
	for range 90 {
		said = w.say(t.Context(), "relay", errors.New("database is away"), said)
		now = now.Add(time.Second)
	}
	for range 3 {
		said = w.say(t.Context(), "relay", nil, said)
	}
	if failed, on := strings.Count(out.String(), "periodic work failed"), strings.Count(out.String(), "periodic work goes on"); failed != 2 || on != 1 {
		t.Errorf("%d times failed and %d times going on, want 2 and 1:\n%s", failed, on, out.String())
	}
}
