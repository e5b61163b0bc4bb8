package queue

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// repeatAfter is how long the same of asynq's complaints is not repeated: without Redis it has five
// in a second, for as long as that lasts.
const repeatAfter = time.Minute

// asynqLogger gives asynq's own words to slog. They are about its machinery and never need a
// person at once, so the worst of them is a warning; our handlers' errors are logged by process.
// What was said less than a minute ago is left to level debug.
type asynqLogger struct {
	logger *slog.Logger
	now    func() time.Time

	mu   sync.Mutex
	said map[string]time.Time
}

func newAsynqLogger(logger *slog.Logger, now func() time.Time) *asynqLogger {
	return &asynqLogger{logger: logger, now: now, said: map[string]time.Time{}}
}

func (l *asynqLogger) log(level slog.Level, args []any) {
	detail := fmt.Sprint(args...)
	if level > slog.LevelDebug && level < slog.LevelError && l.repeats(detail) {
		level = slog.LevelDebug
	}
	l.logger.Log(context.Background(), level, "asynq", "detail", detail)
}

// repeats says whether the beginning of the detail, up to the cause, was said within repeatAfter.
func (l *asynqLogger) repeats(detail string) bool {
	kind, _, _ := strings.Cut(detail, ":") // a few, they are asynq's constants and names of queues
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, known := l.said[kind]; known && now.Sub(last) < repeatAfter {
		return true
	}
	if len(l.said) >= 100 {
		clear(l.said)
	}
	l.said[kind] = now
	return false
}

func (l *asynqLogger) Debug(args ...any) { l.log(slog.LevelDebug, args) }
func (l *asynqLogger) Info(args ...any)  { l.log(slog.LevelDebug, args) }
func (l *asynqLogger) Warn(args ...any)  { l.log(slog.LevelInfo, args) }
func (l *asynqLogger) Error(args ...any) { l.log(slog.LevelWarn, args) }
func (l *asynqLogger) Fatal(args ...any) { l.log(slog.LevelError, args) }
