package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errReadOnly is the error for a standby, or for a server that is configured to be read-only.
var errReadOnly = errors.New("the database is read-only")

// Writable returns nil when the database accepts writes. It asks on a new connection, because the
// connections of the pool may all be in use or stuck. Bound it with ctx.
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

// Commits commits a transaction on a connection of the pool. A database whose disk hangs still
// answers reads from memory, but it cannot commit. The transaction writes some bytes to the WAL.
// Bound it with ctx. Errors: the database is unavailable or did not answer; when
// it refuses the statement, it has answered, which is no error.
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
