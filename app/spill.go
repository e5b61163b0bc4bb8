package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"time"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/server"
)

// SpillOff is the SPILL_DIR of a server that keeps no turns while Postgres is away.
const SpillOff = "off"

// Spill returns the directory where servers keep turns while Postgres is unavailable; empty is
// none.
func (c Config) Spill() string {
	if c.SpillDir == SpillOff {
		return ""
	}
	if c.SpillDir != "" {
		return c.SpillDir
	}
	bucket, err := url.Parse(c.BlobURL)
	if err != nil || bucket.Path == "" || c.inS3() {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Clean(bucket.Path)), "spill")
}

// degraded returns checks of /readyz that do not take the server out of service when they fail.
func (a *App) degraded() map[string]server.Check {
	if a.wal == nil {
		return nil
	}
	return map[string]server.Check{"spill": func(context.Context) error { return a.wal.Check() }}
}

// openWAL opens the write-ahead log of this process; nil when turns are not kept.
func openWAL(ctx context.Context, config Config, keyring *seal.Keyring, now func() time.Time, log *slog.Logger) (*wal.Log, error) {
	dir := config.Spill()
	if dir == "" {
		return nil, nil //nolint:nilnil // nil is the documented value
	}
	opened, err := wal.Open(ctx, wal.Config{Dir: dir, MaxBytes: int64(config.SpillMaxBytes), Seal: keyring, Now: now, Log: log})
	if err != nil {
		return nil, fmt.Errorf("the directory where turns are kept while Postgres is away, %s, cannot be used: give another "+
			"as PARLANCE_SPILL_DIR (off keeps none): %w", dir, err)
	}
	return opened, nil
}
