package queue

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestAsynqLogger shows that an outage of Redis is logged once a minute.
func TestAsynqLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	log := newAsynqLogger(slog.New(slog.NewTextHandler(&out, nil)), func() time.Time { return now })
	for range 300 {
		log.Error("Dequeue error: ", "connection refused")
		log.Error("Failed to forward scheduled tasks: ", "connection refused")
		now = now.Add(200 * time.Millisecond)
	}
	if got := strings.Count(out.String(), "\n"); got != 2 {
		t.Errorf("%d lines within a minute, want one of each kind:\n%s", got, out.String())
	}
	log.Error("Dequeue error: ", "connection refused")
	if got := strings.Count(out.String(), "Dequeue error"); got != 2 {
		t.Errorf("%d lines after a minute, want another", got)
	}
}
