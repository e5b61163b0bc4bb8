package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// probes is how often checkSession looks for a pooler. One probe is nearly always enough;
	// another client may take the backend in between.
	probes = 25
	// probeWithin bounds the search: a pooler with a single connection would make it wait.
	probeWithin = 5 * time.Second
)

// ErrPooled is the error for a direct connection that goes through a transaction pooler.
var ErrPooled = errors.New("the connection goes through a pooler that shares sessions out by transaction " +
	"(PgBouncer with pool_mode = transaction), where LISTEN and session locks do not hold: " +
	"give the database's own address, or a port of the pooler with pool_mode = session, as " +
	"PARLANCE_DATABASE_DIRECT_URL; DATABASE_URL may stay as it is")

// CheckSessions refuses a configuration in which Listen and TryLock would silently not work: a
// direct connection that keeps no session ([ErrPooled]), or one that leads to another database.
func (d *DB) CheckSessions(ctx context.Context) error {
	if err := checkSession(ctx, d.direct); err != nil {
		return err
	}
	if d.direct.ConnString() == d.Pool.Config().ConnConfig.ConnString() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, d.direct)
	if err != nil {
		return fmt.Errorf("connecting directly: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only read from
	if err := checkServer(ctx, conn); err != nil {
		return fmt.Errorf("PARLANCE_DATABASE_DIRECT_URL: %w", err)
	}
	same, err := d.sameDatabase(ctx, conn)
	if err != nil {
		return err
	}
	if !same {
		return errors.New("PARLANCE_DATABASE_DIRECT_URL and DATABASE_URL lead to different databases: they must name the same one")
	}
	return nil
}

// sameDatabase takes a lock on one connection and looks whether it holds for the pool: advisory
// locks are a database's own, whatever the hosts in the URLs are called.
func (d *DB) sameDatabase(ctx context.Context, conn *pgx.Conn) (same bool, err error) {
	var random [8]byte
	rand.Read(random[:])
	key := int64(binary.BigEndian.Uint64(random[:]))
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return false, fmt.Errorf("locking on the direct connection: %w", err)
	}
	free := false
	if err := d.Pool.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", key).Scan(&free); err != nil {
		return false, fmt.Errorf("locking through the pool: %w", err)
	}
	return !free, nil
}

// checkSession returns ErrPooled when connections by config keep no session.
func checkSession(ctx context.Context, config *pgx.ConnConfig) error {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting directly: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only read from
	backend, err := backendOf(ctx, conn)
	if err != nil {
		return err
	}
	if backend == conn.PgConn().PID() {
		return nil // there is no pooler
	}
	return probePooler(ctx, config, conn)
}

// probePooler holds a transaction open on a second connection. When the first has the same backend
// as that, or changes to another, then it has none of its own.
func probePooler(ctx context.Context, config *pgx.ConnConfig, first *pgx.Conn) error {
	second, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting directly: %w", err)
	}
	defer func() { _ = second.Close(context.WithoutCancel(ctx)) }() // its transaction has done nothing
	before, err := backendOf(ctx, first)
	for range probes {
		if err != nil {
			break
		}
		var tx pgx.Tx
		if tx, err = second.Begin(ctx); err != nil {
			break
		}
		var theirs, after uint32
		if err = tx.QueryRow(ctx, selectBackend).Scan(&theirs); err == nil && theirs == before {
			return ErrPooled
		}
		if err == nil {
			after, err = backendOf(ctx, first)
		}
		if err == nil && after != before {
			return ErrPooled
		}
		err = errors.Join(err, tx.Rollback(ctx))
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == protocolViolation {
		return ErrPooled // pool_mode = statement refuses transactions
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // a second session has to wait for the first to end: sessions are kept
	}
	return err
}

const selectBackend = "SELECT pg_backend_pid()"

func backendOf(ctx context.Context, conn *pgx.Conn) (pid uint32, err error) {
	if err := conn.QueryRow(ctx, selectBackend).Scan(&pid); err != nil {
		return 0, fmt.Errorf("asking for the backend: %w", err)
	}
	return pid, nil
}
