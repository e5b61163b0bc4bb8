package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/ticker"
)

// A collision is tried again up to txRetries times, after a random part of txBackoff, doubled each
// time.
const (
	txRetries = 3
	txBackoff = 20 * time.Millisecond
)

// InTx runs fn in a transaction and commits when it returns nil. When Postgres says that the
// transaction collided with another (40001, 40P01), fn is run again from the start, at most
// three more times: so no network, no enqueue and no clock in fn, and what it writes outside
// is written anew on each run. Within a transaction (db is a bun.Tx) fn runs under a
// savepoint and collisions are left to the outer InTx.
//
// Errors: fn's own, as MapError leaves them; Aborted conflict when the collisions do not end.
func InTx(ctx context.Context, db bun.IDB, fn func(ctx context.Context, tx bun.Tx) error) error {
	if outer, ok := db.(bun.Tx); ok {
		return outer.RunInTx(ctx, nil, fn)
	}
	for retry := 0; ; retry++ {
		err := db.RunInTx(ctx, nil, fn)
		if !isCollision(err) || retry == txRetries {
			return MapError(err)
		}
		if err := ticker.Wait(ctx, rand.N(txBackoff<<retry)); err != nil { //nolint:gosec // spreads retries
			return fmt.Errorf("waiting to run the transaction again: %w", err)
		}
	}
}

// InSnapshot runs fn in a transaction that only reads and sees the database as it was when its first
// statement began. Errors: fn's own, as MapError leaves them.
func InSnapshot(ctx context.Context, db *DB, fn func(ctx context.Context, tx bun.Tx) error) error {
	return MapError(db.RunInTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, fn))
}
