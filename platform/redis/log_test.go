package redis

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
)

// TestLibraryLog: what the library says goes where the log goes, without passwords.
func TestLibraryLog(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	log := newLibraryLog(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug})),
		"redis+sentinel://user:data%40secret@h1/m?sentinel_password=watch-secret")
	log.Printf(context.Background(), "dial %s: %s, %s, %s", "h1", "data@secret", "data%40secret", "watch-secret")
	if text := said.String(); !strings.Contains(text, "dial h1: ***, ***, ***") || strings.Contains(text, "secret") {
		t.Errorf("it said: %s", text)
	}
}
