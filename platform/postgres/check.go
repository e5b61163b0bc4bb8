package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// leastVersion is Postgres 15, as server_version_num has it.
const leastVersion = 150000

// leastVector is the first pgvector with halfvec and iterative scans. Source: its changelog.
var leastVector = []int{0, 8, 0}

// server is what a database says about itself.
type server struct {
	version      int
	versionText  string
	encoding     string
	readOnly     string
	standby      bool
	vector       *string // version of the extension; nil is not made
	databaseName string
}

// querier is a pool or a connection.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// checkServer refuses, with the reason, a database that would fail us later.
func checkServer(ctx context.Context, db querier) error {
	var s server
	err := db.QueryRow(ctx, `
		SELECT current_setting('server_version_num')::int,
		    current_setting('server_version'),
		    current_setting('server_encoding'),
		    current_setting('transaction_read_only'),
		    pg_is_in_recovery(),
		    (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
		    current_database()`).
		Scan(&s.version, &s.versionText, &s.encoding, &s.readOnly, &s.standby, &s.vector, &s.databaseName)
	if err != nil {
		return fmt.Errorf("asking the server what it is: %w", err)
	}
	return s.check()
}

// check lists everything that is wrong at once.
func (s server) check() error {
	var problems []error
	if s.version < leastVersion {
		problems = append(problems, fmt.Errorf("the server is Postgres %s, which is too old: Parlance needs 15 or newer", s.versionText))
	}
	if s.encoding != "UTF8" {
		problems = append(problems, fmt.Errorf("the encoding of database %s is %s and must be UTF8: make it anew with "+
			"CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0", s.databaseName, s.encoding))
	}
	switch {
	case s.standby:
		problems = append(problems, errors.New("the server is a standby, which only reads: name the primary, or all "+
			"hosts and target_session_attrs=read-write, in the database URL"))
	case s.readOnly == "on":
		problems = append(problems, errors.New("the connection may only read (default_transaction_read_only is on): "+
			"set it off for this user and database"))
	}
	if s.vector != nil && vectorTooOld(*s.vector) {
		problems = append(problems, fmt.Errorf("pgvector %s is too old: install 0.8.0 or newer, then ALTER EXTENSION "+
			"vector UPDATE in database %s", *s.vector, s.databaseName))
	}
	return errors.Join(problems...)
}

func vectorTooOld(version string) bool {
	for i, part := range strings.SplitN(version, ".", len(leastVector)) {
		n, err := strconv.Atoi(part)
		if err != nil || n != leastVector[i] {
			return err == nil && n < leastVector[i]
		}
	}
	return false
}

// checkExtension refuses a server without pgvector, or with one that is too old, before anything is
// made.
func checkExtension(ctx context.Context, db querier) error {
	var made, offered *string
	err := db.QueryRow(ctx, `
		SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
		    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')`).Scan(&made, &offered)
	switch {
	case err != nil:
		return fmt.Errorf("asking for pgvector: %w", err)
	case made != nil:
		return nil // its version was looked at when the connection was made
	case offered == nil:
		return errors.New("pgvector is not installed on the database server: install 0.8.0 or newer (Debian: " +
			"postgresql-N-pgvector; managed databases: allow the extension vector)")
	case vectorTooOld(*offered):
		return fmt.Errorf("the database server offers pgvector %s, which is too old: install 0.8.0 or newer", *offered)
	}
	return nil
}

// explainExtension says what to do when the extension could not be made for lack of rights.
func explainExtension(err error) error {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == insufficientPrivilege &&
		strings.Contains(answer.Message, "extension") {
		return fmt.Errorf("this user may not make the extension vector: let a superuser run CREATE EXTENSION vector "+
			"in this database once, then migrate again: %w", err)
	}
	return err
}
