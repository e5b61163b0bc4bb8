package main

import (
	"context"
	"fmt"
)

// logFiles is how many files of its log a database has at hand when a part begins: 16 MiB each, more than a part fills
// between two checkpoints.
const logFiles = 48

// season makes a database that is some minutes old behave as one that has run for a day. Postgres writes over the files of
// its log (WAL) that a checkpoint has let go. Where there are none yet it makes one each 16 MiB, and everybody who commits
// waits for that, 20 to 100 ms here: every hundredth turn. And a checkpoint that is due from what was done before would
// fall into the figures of what comes next.
func (w *world) season(ctx context.Context) error {
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
