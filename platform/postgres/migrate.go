package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun/migrate"
)

// migrationLock is the advisory lock under which one process at a time migrates ("parlance" in
// ASCII).
const migrationLock int64 = 0x7061726c616e6365

// migrationName is NNNN_verb_noun; .tx. runs the file in one transaction, which only
// CREATE INDEX CONCURRENTLY and its kin have a reason not to want.
var migrationName = regexp.MustCompile(`^\d{4}_[a-z]+(_[a-z0-9]+)+(\.tx)?\.up\.sql$`)

// MigrationStatus is one migration and when it was applied; the zero time means not yet.
type MigrationStatus struct {
	Name      string // "0001_create_tenants"
	AppliedAt time.Time
}

// Migrate applies the files NNNN_verb_noun.tx.up.sql of fsys that have not been applied, in
// order of their numbers. Any number of processes may call it at once: one works, the others
// wait for it. A migration is recorded after it succeeded, in a second step, so after a crash
// between the two it runs again: each must be safe to repeat.
func Migrate(ctx context.Context, databaseURL string, fsys fs.FS) error {
	migrations, err := discover(fsys)
	if err != nil {
		return err
	}
	db, err := Open(ctx, Config{URL: databaseURL, MaxConns: 2})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing is in flight
	// The lock has a connection of its own: it ends with us, even when we are killed. (Bun's
	// own lock is a row, which would stay behind.)
	if err := checkSession(ctx, db.direct); err != nil {
		return fmt.Errorf("locking out other migrations: %w", err)
	}
	lock, err := pgx.ConnectConfig(ctx, db.direct)
	if err != nil {
		return fmt.Errorf("connecting for the migration lock: %w", err)
	}
	defer func() { _ = lock.Close(context.WithoutCancel(ctx)) }() // nothing to do about it: the server drops the lock with the connection
	if _, err := lock.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return fmt.Errorf("waiting for the migration lock: %w", err)
	}
	if err := checkExtension(ctx, db.Pool); err != nil {
		return err
	}
	migrator := migrate.NewMigrator(db.DB, migrations, migrate.WithMarkAppliedOnSuccess(true))
	if err := migrator.Init(ctx); err != nil {
		return fmt.Errorf("making the migrator's tables: %w", err)
	}
	if _, err := migrator.Migrate(ctx); err != nil {
		return fmt.Errorf("migrating: %w", explainExtension(err))
	}
	return nil
}

// Migrations lists the files of fsys in order with what the database says of each; it writes
// nothing.
func Migrations(ctx context.Context, databaseURL string, fsys fs.FS) ([]MigrationStatus, error) {
	migrations, err := discover(fsys)
	if err != nil {
		return nil, err
	}
	db, err := Open(ctx, Config{URL: databaseURL, MaxConns: 1})
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // nothing is in flight
	all, err := migrate.NewMigrator(db.DB, migrations).MigrationsWithStatus(ctx)
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == undefinedTable {
		all, err = migrations.Sorted(), nil // never migrated
	}
	if err != nil {
		return nil, fmt.Errorf("reading the applied migrations: %w", err)
	}
	statuses := make([]MigrationStatus, 0, len(all))
	for _, m := range all {
		status := MigrationStatus{Name: m.String()}
		if m.IsApplied() {
			status.AppliedAt = m.MigratedAt
		}
		statuses = append(statuses, status)
	}
	return statuses, nil
}

// MigrationHash names the schema that the files of fsys make: 16 hex characters over their names
// and contents.
func MigrationHash(fsys fs.FS) (string, error) {
	names, err := migrationFiles(fsys)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, name := range names {
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return "", fmt.Errorf("reading migration %s: %w", name, err)
		}
		fmt.Fprintf(hash, "%s %d\n", name, len(content))
		hash.Write(content)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

// discover hands the files to Bun, which refuses two with one number.
func discover(fsys fs.FS) (*migrate.Migrations, error) {
	if _, err := migrationFiles(fsys); err != nil {
		return nil, err
	}
	migrations := migrate.NewMigrations()
	if err := migrations.Discover(fsys); err != nil {
		return nil, fmt.Errorf("reading the migrations: %w", err)
	}
	return migrations, nil
}

// migrationFiles lists the files of fsys that are migrations, by name, and refuses names Bun would
// misread or skip.
func migrationFiles(fsys fs.FS) ([]string, error) {
	names, err := fs.Glob(fsys, "[0-9]*.sql")
	if err != nil {
		return nil, fmt.Errorf("listing the migrations: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New("there are no migrations")
	}
	for _, name := range names {
		if !migrationName.MatchString(name) {
			return nil, fmt.Errorf("migration %s is not named NNNN_verb_noun.tx.up.sql", name)
		}
	}
	return names, nil
}
