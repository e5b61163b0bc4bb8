package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// unlockTimeout bounds the release of a lock, which also happens after the caller's context has
// ended.
const unlockTimeout = 5 * time.Second

// takeLock takes the lock, and has Postgres end the transaction when it waits 15 s for the next
// statement; both end with the transaction. There is no network in transactions, so one that is
// slower belongs to a process that was stopped or swapped out, and the others must not wait until
// it wakes.
const takeLock = "SELECT set_config('idle_in_transaction_session_timeout', '15s', true), pg_advisory_xact_lock(hashtextextended(?, 0))"

// Lock is LockTx as a step of a Pipeline.
func (d *DB) Lock(key string) Step { return Step{Statement: d.NewRaw(takeLock, key)} }

// LockTx waits for the advisory lock named key and holds it until tx ends, or has been idle for 15
// s: Postgres ends it then. Two names may share a lock (64-bit hash), which costs waiting and
// nothing else.
func LockTx(ctx context.Context, tx bun.Tx, key string) error {
	if _, err := tx.ExecContext(ctx, takeLock, key); err != nil {
		return fmt.Errorf("locking %q: %w", key, err)
	}
	return nil
}

// TryLock runs fn while this process holds the advisory lock named key, and reports whether it did:
// false without an error when another process holds the lock. The lock belongs to a connection of
// its own. When that connection breaks the lock is lost unnoticed, so fn must be harmless when two
// processes run it at once.
func (d *DB) TryLock(ctx context.Context, key string, fn func(ctx context.Context) error) (ran bool, err error) {
	err = d.Session(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", key).Scan(&ran); err != nil {
			return fmt.Errorf("locking %q: %w", key, err)
		}
		if !ran {
			return nil
		}
		defer unlock(ctx, conn, key)
		return fn(ctx)
	})
	return ran, err
}

// unlock also runs after ctx has ended: the next process should not wait until the server notices
// that the connection is closed.
func unlock(ctx context.Context, conn *pgx.Conn, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
	defer cancel()
	_, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", key) // the end of the connection does it otherwise
}
