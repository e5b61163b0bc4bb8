package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
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

// Step is a statement of [DB.Ask], in one of two forms.
type Step struct {
	// Statement has its values in its text: each time another one, which Postgres plans each time.
	Statement bun.Query
	// SQL is always the same and has $1 and so on for Args. Its plan is kept for planAge, unless a pooler shares
	// connections: for what every turn does.
	SQL string
	// Fresh has SQL planned each time: where a plan for a table of some rows is bad for one of thousands, and it grows
	// by that in seconds.
	Fresh bool
	// Args are nil, string, JSON as []byte, int, int64, bool, time.Time, []string, []int64 and []time.Time.
	Args []any
	// Row, when not nil, takes each row that comes; scan is that of pgx.Rows.
	Row func(scan func(into ...any) error) error
}

// Ask is Pipeline for statements whose rows are wanted. They come by pgx's connection alone, without database/sql,
// Bun's models and pgx's batches: for what every turn does. Errors: those of Row too; then nothing is known of what
// was changed.
func (d *DB) Ask(ctx context.Context, steps ...Step) ([]int64, error) {
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return nil, MapError(err)
	}
	defer conn.Release()
	changed, err := d.ask(ctx, conn.Conn(), steps)
	if staleStatement(err) {
		_ = conn.Conn().Close(ctx) // another is made, and prepares them anew
	}
	return changed, MapError(err)
}

func (d *DB) ask(ctx context.Context, conn *pgx.Conn, steps []Step) ([]int64, error) {
	prepared, err := d.prepare(ctx, conn, steps)
	if err != nil {
		return nil, err
	}
	pipeline := conn.PgConn().StartPipeline(ctx)
	renews := d.outdated(conn)
	if renews {
		pipeline.SendQueryParams("DISCARD PLANS", nil, nil, nil, nil)
	}
	if err := d.send(ctx, conn, pipeline, steps, prepared); err != nil {
		_ = pipeline.Close() // with its connection, when it has sent some
		return nil, err
	}
	if renews {
		if _, err := (Step{}).take(conn.TypeMap(), pipeline); err != nil {
			_ = pipeline.Close() // as below
			return nil, fmt.Errorf("renewing plans: %w", err)
		}
	}
	changed := make([]int64, len(steps))
	for i, step := range steps {
		if changed[i], err = step.take(conn.TypeMap(), pipeline); err != nil {
			_ = pipeline.Close() // the first error is the cause
			return nil, err
		}
	}
	return changed, pipeline.Close()
}

// planAge is how long a connection keeps its plans. One made while a table was empty goes by any of its indexes, and
// would be kept until something has analyzed the table, a minute after thousands of rows came.
const planAge = 5 * time.Second

// planned is where a connection says when its plans were renewed last, as a *time.Time.
const planned = "parlance.planned"

// outdated says whether the connection's plans are to be renewed, which is taken for done.
func (d *DB) outdated(conn *pgx.Conn) bool {
	if d.pooled {
		return false
	}
	now, data := time.Now(), conn.PgConn().CustomData()
	last, is := data[planned].(*time.Time)
	if !is {
		data[planned] = &now
		return false
	}
	if now.Sub(*last) < d.planAge {
		return false
	}
	*last = now
	return true
}

// prepare are the steps' prepared statements; of those that are none, nil.
func (d *DB) prepare(ctx context.Context, conn *pgx.Conn, steps []Step) ([]*pgconn.StatementDescription, error) {
	prepared := make([]*pgconn.StatementDescription, len(steps))
	for i, step := range steps {
		if step.SQL == "" || step.Fresh || d.pooled {
			continue
		}
		var err error
		if prepared[i], err = conn.Prepare(ctx, step.SQL, step.SQL); err != nil { // asks Postgres the first time only
			return nil, fmt.Errorf("preparing a statement: %w", err)
		}
	}
	return prepared, nil
}

// send sends the steps, to be one transaction.
func (d *DB) send(ctx context.Context, conn *pgx.Conn, pipeline *pgconn.Pipeline, steps []Step, prepared []*pgconn.StatementDescription) error {
	v := newValues()
	defer v.free()
	conn.PgConn().Frontend().Send(roomFor(steps))
	var batch pgx.Batch // for who watches
	for i, step := range steps {
		sql, args := step.SQL, step.Args
		if sql == "" {
			text, err := step.Statement.AppendQuery(d.QueryGen(), v.bytes[:0])
			if err != nil {
				return fmt.Errorf("formatting a statement: %w", err)
			}
			sql, v.bytes = string(text), text
		}
		params, err := v.of(args)
		if err != nil {
			return fmt.Errorf("formatting %.40q: %w", sql, err)
		}
		if description := prepared[i]; description != nil {
			pipeline.SendQueryStatement(description, params, nil, formats(conn.TypeMap(), description))
		} else {
			pipeline.SendQueryParams(sql, params, nil, nil, nil)
		}
		if d.tracer != nil {
			batch.Queue(sql, args...)
		}
	}
	if d.tracer != nil {
		d.tracer.TraceBatchStart(ctx, conn, pgx.TraceBatchStartData{Batch: &batch})
	}
	return pipeline.Sync()
}

// room is a message of nothing: it has pgx make place for what comes behind it at once. pgx begins with a KiB after each
// message that was longer, and would double it, and copy what is there, until a turn's few KiB fit.
type room int

// roomFor is about what the steps take.
func roomFor(steps []Step) room {
	const perStep, perArg = 256, 24
	n := 0
	for _, step := range steps {
		n += perStep + perArg*len(step.Args)
		for _, arg := range step.Args {
			switch arg := arg.(type) {
			case string:
				n += len(arg)
			case []byte:
				n += len(arg)
			}
		}
	}
	return room(n)
}

// Encode is that of a message to Postgres, as are the two below.
func (r room) Encode(dst []byte) ([]byte, error) { return slices.Grow(dst, int(r)), nil }

func (room) Decode([]byte) error { return nil }

// Frontend says that it goes from a client to a server.
func (room) Frontend() {}

// formats are those that pgx reads a statement's columns best in.
func formats(types *pgtype.Map, description *pgconn.StatementDescription) []int16 {
	best := make([]int16, len(description.Fields))
	for i, field := range description.Fields {
		best[i] = types.FormatCodeForOID(field.DataTypeOID)
	}
	return best
}

// staleStatement says that a prepared statement is of no use any more: a migration has changed what it returns, or
// something between us and Postgres has dropped it.
func staleStatement(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == cachedPlanChanged || answer.Code == noSuchStatement)
}

// take reads what a step has brought, and says how many rows it changed or found.
func (s Step) take(types *pgtype.Map, pipeline *pgconn.Pipeline) (int64, error) {
	results, err := pipeline.GetResults()
	if err != nil {
		return 0, err
	}
	reader, is := results.(*pgconn.ResultReader)
	if !is {
		return 0, fmt.Errorf("%T came in place of an answer", results)
	}
	if s.Row == nil {
		tag, err := reader.Close()
		return tag.RowsAffected(), err
	}
	rows := pgx.RowsFromResultReader(types, reader)
	defer rows.Close()
	scan := func(into ...any) error { return scanRow(rows, into) }
	for rows.Next() {
		if err := s.Row(scan); err != nil {
			return 0, fmt.Errorf("reading a row: %w", err)
		}
	}
	rows.Close()
	return rows.CommandTag().RowsAffected(), rows.Err()
}
