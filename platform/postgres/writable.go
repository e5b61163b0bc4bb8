package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// errReadOnly says that the server is a standby, or was told to only read.
var errReadOnly = errors.New("the database only reads")

// Writable asks the database, on a new connection, whether it can be written: a pool whose connections are all
// in use, or stuck, tells nothing of that. Bound it with ctx.
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
