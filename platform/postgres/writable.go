package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errReadOnly says that the server is a standby, or was told to only read.
var errReadOnly = errors.New("the database only reads")

// Writable asks the database, on a new connection, whether it can be written: a pool whose
// connections are all in use, or stuck, tells nothing of that. Bound it with ctx.
func (d *DB) Writable(ctx context.Context) error {
	return d.Session(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var reads bool
		err := conn.QueryRow(ctx, "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'").Scan(&reads)
		if err == nil && reads {
			err = errReadOnly
		}
		return err
	})
}

// Commits has the database commit something, on a connection of the pool: one whose disk hangs
// still reads what it has in memory. It writes some bytes to the log (WAL) that nobody reads. Bound
// it with ctx. Errors: that it did not come to that; a refusal is an answer.
func (d *DB) Commits(ctx context.Context) error {
	_, err := d.ExecContext(ctx, "SELECT pg_logical_emit_message(true, 'parlance', ''::text)")
	if _, answered := errors.AsType[*pgconn.PgError](err); answered && !IsAway(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking the database to commit: %w", err)
	}
	return nil
}
