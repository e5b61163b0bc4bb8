package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// Pipeline runs statements as one transaction in one round trip: all are sent before the first
// answer is read. It returns how many rows each has changed or found. Each sees what was committed
// when it began, so a statement after Lock counts what earlier holders of the lock have stored.
// Errors: as MapError leaves them; then nothing has been changed.
func (d *DB) Pipeline(ctx context.Context, statements ...bun.Query) ([]int64, error) {
	var batch pgx.Batch
	for _, statement := range statements {
		text, err := statement.AppendQuery(d.QueryGen(), nil)
		if err != nil {
			return nil, fmt.Errorf("formatting a statement: %w", err)
		}
		batch.Queue(string(text))
	}
	results := d.Pool.SendBatch(ctx, &batch)
	changed := make([]int64, len(statements))
	for i := range statements {
		tag, err := results.Exec()
		if err != nil {
			_ = results.Close() // the first error is the cause
			return nil, MapError(err)
		}
		changed[i] = tag.RowsAffected()
	}
	return changed, MapError(results.Close())
}
