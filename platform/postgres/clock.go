package postgres

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
)

const (
	// adjustEvery is how often Watch looks at the clock of Postgres. It is less than the shortest
	// lease.
	adjustEvery = 5 * time.Second
	// clockTolerance is how far clocks may be apart. Leases are longer than ten times this.
	clockTolerance = 500 * time.Millisecond
)

// Clock is the clock of a machine, corrected by that of Postgres where the two differ by more than
// half a second.
//
// Leases, due times and expiries are times in the database that many nodes compare with their own
// clock. A node whose clock is ahead by a minute would take all work that others hold, and nobody
// would wait for one that is behind. With this clock every such comparison is by the clock of
// Postgres, whichever table and statement it is in.
//
// Safe for concurrent use.
type Clock struct {
	db      *DB
	machine func() time.Time
	// nanoseconds are added to the machine's time.
	nanoseconds atomic.Int64
}

// NewClock makes a clock, which is the machine's until Adjust or Watch is called.
func NewClock(db *DB, machine func() time.Time) *Clock { return &Clock{db: db, machine: machine} }

// Now is the corrected time. Differences between two times are as exact as the machine's, because
// its monotonic reading is kept.
func (c *Clock) Now() time.Time { return c.machine().Add(c.offset()) }

// Adjust compares the clocks, and returns by how much the correction changed: 0 for not at all. An
// answer that took long is believed only as far as it is certain.
func (c *Clock) Adjust(ctx context.Context) (changed time.Duration, err error) {
	began := c.machine()
	theirs, err := Now(ctx, c.db)
	if err != nil {
		return 0, err
	}
	took := c.machine().Sub(began)
	offset := theirs.Sub(began) - took/2
	changed = offset - c.offset()
	if changed.Abs() <= clockTolerance+took/2 {
		return 0, nil
	}
	c.nanoseconds.Store(int64(offset))
	return changed, nil
}

// Watch adjusts the clock until ctx ends. While Postgres is unavailable the last correction holds.
func (c *Clock) Watch(ctx context.Context, log *slog.Logger) {
	ticker.Every(ctx, adjustEvery, func() {
		if changed, err := c.Adjust(ctx); err == nil && changed != 0 {
			c.Warn(ctx, log)
		}
	})
}

// Warn logs a clock of the machine that is wrong.
func (c *Clock) Warn(ctx context.Context, log *slog.Logger) {
	log.WarnContext(ctx, "the clock of this machine is not that of Postgres, which is used instead; set both by NTP",
		telemetry.KeyDurationMS, c.offset().Milliseconds())
}

func (c *Clock) offset() time.Duration { return time.Duration(c.nanoseconds.Load()) }
