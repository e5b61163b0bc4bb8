package queue

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// repeatAfter is how long the same message of asynq is not logged again: without Redis there are
// five in a second.
const repeatAfter = time.Minute

// asynqLogger writes asynq's own messages to slog. None of them needs a person at once, so its
// errors are warnings; errors of handlers are logged by process. A message that was logged less
// than a minute ago is logged at level debug.
type asynqLogger struct {
	logger *slog.Logger
	now    func() time.Time

	mu     sync.Mutex
	logged map[string]time.Time
}

func newAsynqLogger(logger *slog.Logger, now func() time.Time) *asynqLogger {
	return &asynqLogger{logger: logger, now: now, logged: map[string]time.Time{}}
}

func (l *asynqLogger) log(level slog.Level, args []any) {
	detail := fmt.Sprint(args...)
	if level > slog.LevelDebug && level < slog.LevelError && l.repeats(detail) {
		level = slog.LevelDebug
	}
	l.logger.Log(context.Background(), level, "asynq", "detail", detail)
}

// repeats says whether the beginning of the detail, up to the cause, was logged within repeatAfter.
func (l *asynqLogger) repeats(detail string) bool {
	kind, _, _ := strings.Cut(detail, ":") // few: constants of asynq and names of queues
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, known := l.logged[kind]; known && now.Sub(last) < repeatAfter {
		return true
	}
	if len(l.logged) >= 100 {
		clear(l.logged)
	}
	l.logged[kind] = now
	return false
}

func (l *asynqLogger) Debug(args ...any) { l.log(slog.LevelDebug, args) }
func (l *asynqLogger) Info(args ...any)  { l.log(slog.LevelDebug, args) }
func (l *asynqLogger) Warn(args ...any)  { l.log(slog.LevelInfo, args) }
func (l *asynqLogger) Error(args ...any) { l.log(slog.LevelWarn, args) }
func (l *asynqLogger) Fatal(args ...any) { l.log(slog.LevelError, args) }
