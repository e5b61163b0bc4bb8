package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"
)

// LogFormat is how records are written.
type LogFormat string

// The formats; auto is text when the writer is a terminal and JSON otherwise.
const (
	LogAuto LogFormat = "auto"
	LogJSON LogFormat = "json"
	LogText LogFormat = "text"
)

// LogConfig configures a logger. The zero value logs Info and above, format auto.
type LogConfig struct {
	Format LogFormat
	// Level is the least level written; a *slog.LevelVar can be changed while running. nil means
	// Info.
	Level slog.Leveler
}

// NewLogger makes a logger over w whose lines carry what is noted in their context (see Note) and
// the ids of their trace. The only error is an unknown format.
func NewLogger(w io.Writer, cfg LogConfig) (*slog.Logger, error) {
	level := cfg.Level
	if level == nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	var handler slog.Handler
	switch {
	case cfg.Format == LogText, (cfg.Format == LogAuto || cfg.Format == "") && isTerminal(w):
		handler = slog.NewTextHandler(w, options)
	case cfg.Format == LogJSON, cfg.Format == LogAuto, cfg.Format == "":
		handler = slog.NewJSONHandler(w, options)
	default:
		return nil, fmt.Errorf("log format %q: use auto, json or text", cfg.Format)
	}
	return slog.New(scoped{Handler: handler}), nil
}

// readable writes times in UTC and durations as text ("1.5s"; JSON would have nanoseconds).
func readable(_ []string, attr slog.Attr) slog.Attr {
	switch attr.Value.Kind() {
	case slog.KindTime:
		return slog.Time(attr.Key, attr.Value.Time().UTC())
	case slog.KindDuration:
		return slog.String(attr.Key, attr.Value.Duration().Round(time.Microsecond).String())
	default:
		return attr
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
