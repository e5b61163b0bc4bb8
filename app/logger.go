package app

import (
	"fmt"
	"log/slog"
	"os"

	"parlance.dev/parlance/platform/telemetry"
)

// OpenLogger returns the configured logger.
func OpenLogger(config Config) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(config.LogLevel)); err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	return telemetry.NewLogger(os.Stderr, telemetry.LogConfig{Format: telemetry.LogFormat(config.LogFormat), Level: level})
}
