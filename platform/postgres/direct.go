package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Session runs fn on a direct connection, which has a session of its own also when a pooler shares
// the other connections out. It is for settings that hold longer than a transaction, and for
// statements that cannot run in one.
func (d *DB) Session(ctx context.Context, fn func(ctx context.Context, conn *pgx.Conn) error) error {
	conn, err := pgx.ConnectConfig(ctx, d.direct)
	if err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	// The context may have ended; closing sends one packet and must not wait for an answer.
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return fn(ctx, conn)
}
