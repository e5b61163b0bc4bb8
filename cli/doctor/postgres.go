package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sqlmigrations"
)

const (
	connectWithin = 10 * time.Second
	// notifyWithin limits a notification, which takes one round trip.
	notifyWithin = 3 * time.Second
	slowDatabase = 10 * time.Millisecond
	skewWarning  = 2 * time.Second
	skewFailure  = 30 * time.Second
	roundTrips   = 5
	// spareConnections are used by a process in addition to its pool: for LISTEN, and for a lock
	// during migrations.
	spareConnections = 2
)

func checkPostgres(ctx context.Context, d Deps, r *report) {
	if d.Config.DatabaseURL == "" {
		r.skip("reach", "DATABASE_URL is not set")
		return
	}
	conn, err := connect(ctx, d.Config.DatabaseURL.Reveal())
	if err != nil {
		advice, detail := explainConnect(err)
		r.fail("reach", advice, "%s", detail)
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only read from
	r.ok("reach", "%s answers as user %s, database %s", conn.Config().Host, conn.Config().User, conn.Config().Database)
	for _, look := range []func(context.Context, Deps, *pgx.Conn, *report) error{
		checkServer, checkTransport, checkVector, checkRights, checkSchema, checkPooling, checkClock, checkConnections,
	} {
		if err := look(ctx, d, conn, r); err != nil {
			r.fail("query", "See the log of Postgres.", "%v", err)
			return
		}
	}
}

// connect opens a connection with the options of the pool: no prepared statements.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, postgres.NewURLError(url, err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["application_name"] = "parlance doctor"
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	return pgx.ConnectConfig(ctx, config)
}

// explainConnect advises about a connection that failed. The errors of pgx contain no password.
func explainConnect(err error) (advice, detail string) {
	detail = err.Error()
	if _, ok := errors.AsType[*postgres.URLError](err); ok {
		return "Write DATABASE_URL as postgres://user:password@host:5432/database?sslmode=require; percent-encode the password.", detail
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		detail = answer.Message + " (" + answer.Code + ")"
		switch answer.Code {
		case "28P01", "28000":
			return "Check user and password in DATABASE_URL, and pg_hba.conf for this host.", detail
		case "3D000":
			return "Make the database: createdb --encoding=UTF8 NAME, or correct its name in DATABASE_URL.", detail
		case "53300":
			return "All connections are taken: raise max_connections, or lower PARLANCE_DATABASE_MAX_CONNS.", detail
		case "57P03":
			return "Postgres is starting; try again.", detail
		case "42704", "08P01":
			return "A pooler refuses a start-up parameter: set ignore_startup_parameters = extra_float_digits, timezone in PgBouncer.", detail
		}
		return "See what Postgres says about this code: https://www.postgresql.org/docs/current/errcodes-appendix.html", detail
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "Correct the host in DATABASE_URL, or the name service of this machine.", detail
	}
	return "See that Postgres runs and that host, port and sslmode in DATABASE_URL are its own, and that no firewall is between.", detail
}

// checkServer checks the version and the extensions.
func checkServer(ctx context.Context, _ Deps, conn *pgx.Conn, r *report) error {
	var version, encoding, readOnly string
	var standby bool
	err := conn.QueryRow(ctx, `
		SELECT current_setting('server_version'), current_setting('server_encoding'), current_setting('transaction_read_only'),
		       pg_is_in_recovery()`).Scan(&version, &encoding, &readOnly, &standby)
	if err != nil {
		return fmt.Errorf("ask for the version: %w", err)
	}
	if !devstack.AtLeast(version, devstack.MinPostgres) {
		r.fail("version", "Upgrade to Postgres 15 or newer.", "Postgres %s is too old", version)
	} else {
		r.ok("version", "Postgres %s", version)
	}
	if encoding != "UTF8" {
		r.fail("encoding", "Make the database anew: createdb --encoding=UTF8 --template=template0 NAME.",
			"the database's encoding is %s", encoding)
	} else {
		r.ok("encoding", "UTF8")
	}
	switch {
	case standby:
		r.fail("writable",
			"Point DATABASE_URL to the primary; add target_session_attrs=read-write when it names several hosts.",
			"this is a standby: it cannot be written to")
	case readOnly == "on":
		r.fail("writable", "Unset default_transaction_read_only for this user and database.", "transactions are read-only")
	default:
		r.ok("writable", "it is the primary and can be written to")
	}
	return nil
}

// checkTransport warns of passwords that are sent unencrypted over a public network.
func checkTransport(_ context.Context, _ Deps, conn *pgx.Conn, r *report) error {
	peer := conn.PgConn().Conn()
	if _, secured := peer.(interface{ VerifyHostname(host string) error }); secured {
		r.ok("transport", "the connection is encrypted")
		return nil
	}
	address, err := netip.ParseAddrPort(peer.RemoteAddr().String())
	if err == nil && !address.Addr().Unmap().IsLoopback() && !address.Addr().Unmap().IsPrivate() {
		r.warn("transport", "Add sslmode=verify-full (or require) to DATABASE_URL.", "the connection to %s is not encrypted", address.Addr())
		return nil
	}
	r.ok("transport", "the connection is not encrypted and stays on a private network or this machine")
	return nil
}

func checkVector(ctx context.Context, _ Deps, conn *pgx.Conn, r *report) error {
	var installed, available, builders string
	err := conn.QueryRow(ctx, `
		SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), ''),
		       coalesce((SELECT default_version FROM pg_available_extensions WHERE name = 'vector'), ''),
		       current_setting('max_parallel_maintenance_workers')`).Scan(&installed, &available, &builders)
	if err != nil {
		return fmt.Errorf("ask for pgvector: %w", err)
	}
	switch {
	case installed == "" && available == "":
		r.fail("pgvector",
			"Install pgvector 0.8.2 or newer where Postgres runs: apt install postgresql-NN-pgvector, or the image "+
				"pgvector/pgvector.", "pgvector is not there")
	case installed == "":
		r.fail("pgvector",
			"As a superuser in this database: CREATE EXTENSION vector; (`parlance migrate up` does it when it may).",
			"pgvector %s can be installed, and is not in this database", available)
	case !devstack.AtLeast(installed, devstack.MinVector):
		r.fail("pgvector", "Install pgvector 0.8.2 or newer, then ALTER EXTENSION vector UPDATE;", "pgvector %s is too old", installed)
	case !devstack.AtLeast(installed, devstack.SafeVector) && builders == "0":
		r.ok("pgvector", "pgvector %s; CVE-2026-3172 does not matter, because max_parallel_maintenance_workers is 0", installed)
	case !devstack.AtLeast(installed, devstack.SafeVector):
		r.warn("pgvector", "Upgrade to 0.8.2, or set max_parallel_maintenance_workers = 0; then ALTER EXTENSION vector UPDATE;",
			"pgvector %s has CVE-2026-3172 (parallel builds of HNSW indexes read beyond a buffer)", installed)
	default:
		r.ok("pgvector", "pgvector %s", installed)
	}
	return nil
}

func checkRights(ctx context.Context, _ Deps, conn *pgx.Conn, r *report) error {
	var schema string
	var create bool
	var closed []string
	err := conn.QueryRow(ctx, `
		SELECT coalesce(current_schema(), ''),
		       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
		       coalesce((SELECT array_agg(relname::text ORDER BY relname)
		                 FROM pg_class
		                 WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p')
		                   AND NOT has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE')), '{}')`).Scan(&schema, &create, &closed)
	if err != nil {
		return fmt.Errorf("ask for rights: %w", err)
	}
	switch {
	case len(closed) > 0:
		r.fail("rights", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+schema+" TO this user; or let it own the tables.",
			"the user may not use %s", strings.Join(closed, ", "))
	case !create:
		r.warn("rights", "GRANT CREATE ON SCHEMA public TO this user, or run `parlance migrate up` as another one.",
			"the user may not make tables: it cannot migrate")
	default:
		r.ok("rights", "the user may read, write and migrate")
	}
	return nil
}

func checkSchema(ctx context.Context, d Deps, conn *pgx.Conn, r *report) error {
	migrations, err := sqlmigrations.Status(ctx, d.Config.DatabaseURL.Reveal())
	if err != nil {
		return err
	}
	missing := 0
	for _, migration := range migrations {
		if migration.AppliedAt.IsZero() {
			missing++
		}
	}
	if missing > 0 {
		r.fail("schema", "Run `parlance migrate up` with the same DATABASE_URL.", "the database lacks %d of %d migrations",
			missing, len(migrations))
		return nil
	}
	var applied int
	if err := conn.QueryRow(ctx, "SELECT count(DISTINCT name) FROM bun_migrations").Scan(&applied); err != nil {
		return fmt.Errorf("count the migrations: %w", err)
	}
	if ahead := applied - len(migrations); ahead > 0 { // older versions work with the schema of newer ones
		r.warn("schema", "Fine during an upgrade: restart the servers and workers with the newer version.",
			"the database is %d migrations ahead of this version", ahead)
		return nil
	}
	r.ok("schema", "all %d migrations are applied (schema %s)", len(migrations), sqlmigrations.Hash())
	return nil
}
