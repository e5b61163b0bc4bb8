package main

import (
	"context"
	"fmt"
)

// logFiles is the number of free WAL files of 16 MiB when a part begins: more than a part fills
// between two checkpoints.
const logFiles = 48

// fillLog makes a new database behave as one that has run for a day, and runs a checkpoint, so that
// none that is due falls into the next part. Postgres reuses WAL files after a checkpoint. A new
// database has none to reuse and makes one each 16 MiB, for which commits wait 20 to 100 ms: every
// hundredth turn.
func (w *world) fillLog(ctx context.Context) error {
	const fill = `
		DO $$
		BEGIN
			FOR i IN 1..%d LOOP
				PERFORM pg_logical_emit_message(false, 'bench', 'one more file');
				PERFORM pg_switch_wal();
			END LOOP;
		END
		$$`
	for _, statement := range []string{fmt.Sprintf(fill, logFiles), "CHECKPOINT"} {
		if _, err := w.db.Pool.Exec(ctx, statement); err != nil {
			return fmt.Errorf("making the files of the log: %w", err)
		}
	}
	return nil
}
