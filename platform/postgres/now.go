package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

// Now is what the clock of Postgres shows: the same for all who ask, whatever their machines'
// clocks do.
func Now(ctx context.Context, db bun.IDB) (now time.Time, err error) {
	if err := db.NewRaw("SELECT clock_timestamp()").Scan(ctx, &now); err != nil {
		return now, MapError(fmt.Errorf("ask for the time: %w", err))
	}
	return now.UTC(), nil
}
