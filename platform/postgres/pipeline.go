package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// Pipeline runs statements as one transaction in one round trip: all are sent before the first
// answer is read. It returns how many rows each has changed or found. Each sees what was committed
// when it began, so a statement after Lock counts what earlier holders of the lock have stored.
// Errors: as MapError leaves them; then nothing has been changed.
func (d *DB) Pipeline(ctx context.Context, statements ...bun.Query) ([]int64, error) {
	steps := make([]Step, len(statements))
	for i, statement := range statements {
		steps[i].Statement = statement
	}
	return d.Ask(ctx, steps...)
}

// Step is a statement of [DB.Ask].
type Step struct {
	Statement bun.Query
	// Row, when not nil, takes each row that comes; scan is that of pgx.Rows.
	Row func(scan func(into ...any) error) error
}

// Ask is Pipeline for statements whose rows are wanted. They come by pgx alone, without database/sql and
// Bun's models: for what every turn does. Errors: those of Row too; then nothing is known of what was changed.
func (d *DB) Ask(ctx context.Context, steps ...Step) ([]int64, error) {
	var batch pgx.Batch
	batch.QueuedQueries = make([]*pgx.QueuedQuery, 0, len(steps))
	if err := d.queue(&batch, steps); err != nil {
		return nil, err
	}
	results := d.Pool.SendBatch(ctx, &batch)
	changed := make([]int64, len(steps))
	for i, step := range steps {
		n, err := step.take(results)
		if err != nil {
			_ = results.Close() // the first error is the cause
			return nil, MapError(err)
		}
		changed[i] = n
	}
	return changed, MapError(results.Close())
}

// texts are what statements are written in: they would grow from nothing, those with a turn in them to tens of KiB.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledText is the largest that is kept.
const maxPooledText = 256 << 10

func (d *DB) queue(batch *pgx.Batch, steps []Step) error {
	pooled := texts.Get().(*[]byte) //nolint:errcheck,forcetypeassert // the pool's own
	text, gen := (*pooled)[:0], d.QueryGen()
	for _, step := range steps {
		begin := len(text)
		var err error
		if text, err = step.Statement.AppendQuery(gen, text); err != nil {
			return fmt.Errorf("formatting a statement: %w", err)
		}
		batch.Queue(string(text[begin:]))
	}
	if cap(text) <= maxPooledText {
		*pooled = text
		texts.Put(pooled)
	}
	return nil
}

func (s Step) take(results pgx.BatchResults) (int64, error) {
	if s.Row == nil {
		tag, err := results.Exec()
		return tag.RowsAffected(), err
	}
	rows, err := results.Query()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := s.Row(rows.Scan); err != nil {
			return 0, fmt.Errorf("reading a row: %w", err)
		}
	}
	rows.Close()
	return rows.CommandTag().RowsAffected(), rows.Err()
}
