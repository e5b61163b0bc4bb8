package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
)

// Step is one statement of a pipeline: either Statement or SQL with Args.
type Step struct {
	// Statement is built with Bun, which writes the values into the text. It is never prepared.
	Statement bun.Query
	// SQL is a constant text with $1, $2 … for Args. It is prepared once on each connection, unless
	// a pooler shares the connections out: use it for statements that run in every turn or
	// delivery. Postgres must be able to infer the types of the parameters from the text
	// ($1::timestamptz).
	SQL string
	// Args are values that pgx encodes: nil, strings, integers, bools, times, and slices of them of
	// Go's own types. A []byte is JSON.
	Args []any
	// Row reads one row of the result with scan, as pgx.Rows has it. It is called once for each
	// row. Without it the rows are only counted.
	Row func(scan func(into ...any) error) error
}

// Pipeline runs steps in one transaction and one round trip: all are sent before the first result
// is read. It returns how many rows each step has changed or returned. Each step sees what was
// committed when it began, so a step after [DB.Lock] sees what earlier holders of the lock have
// stored.
//
// Errors: as MapError leaves them, and those of Row. After an error of Postgres nothing is changed;
// after another one it is not known whether the transaction was committed.
func (d *DB) Pipeline(ctx context.Context, steps ...Step) ([]int64, error) {
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return nil, MapError(err)
	}
	defer conn.Release()
	affected, err := d.runPipeline(ctx, conn.Conn(), steps)
	if isStaleStatement(err) {
		_ = conn.Conn().Close(ctx) // the pool opens another one, which prepares the statements anew
	}
	return affected, MapError(err)
}

func (d *DB) runPipeline(ctx context.Context, conn *pgx.Conn, steps []Step) ([]int64, error) {
	var batch pgx.Batch
	for _, step := range steps {
		if err := d.queue(ctx, conn, &batch, step); err != nil {
			return nil, err
		}
	}
	results := conn.SendBatch(ctx, &batch)
	affected := make([]int64, len(steps))
	for i, step := range steps {
		var err error
		if affected[i], err = step.read(results); err != nil {
			_ = results.Close() // repeats the error
			return nil, err
		}
	}
	return affected, results.Close()
}

// queue adds a step to batch and prepares its SQL. Preparing takes a round trip when conn sees the
// text for the first time. pgx finds the prepared statement by the text.
func (d *DB) queue(ctx context.Context, conn *pgx.Conn, batch *pgx.Batch, step Step) error {
	if step.SQL == "" {
		text, err := step.Statement.AppendQuery(d.QueryGen(), nil)
		if err != nil {
			return fmt.Errorf("formatting a statement: %w", err)
		}
		batch.Queue(string(text))
		return nil
	}
	if !d.pooled {
		if _, err := conn.Prepare(ctx, step.SQL, step.SQL); err != nil {
			return fmt.Errorf("preparing a statement: %w", err)
		}
	}
	args := make([]any, len(step.Args))
	for i, arg := range step.Args {
		if encoded, ok := arg.([]byte); ok {
			arg = json.RawMessage(encoded) // pgx takes a []byte for bytea where nothing is prepared
		}
		args[i] = arg
	}
	batch.Queue(step.SQL, args...)
	return nil
}

// read reads the result of the step and returns how many rows it has changed or returned.
func (s Step) read(results pgx.BatchResults) (int64, error) {
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

// isStaleStatement says whether a prepared statement can no longer be used: a migration has changed
// the columns that it returns, or something between us and Postgres has dropped it.
func isStaleStatement(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (answer.Code == cachedPlanChanged || answer.Code == noSuchStatement)
}
