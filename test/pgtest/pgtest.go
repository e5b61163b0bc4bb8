package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sqlmigrations"
	"parlance.dev/parlance/test/pgtest/keeper"
	"parlance.dev/parlance/test/tenantwall"
	"parlance.dev/parlance/workspaces"
)

// Migrator brings an empty database to the current schema.
type Migrator interface {
	// Hash changes whenever the migrations do.
	Hash() string
	// Up runs all migrations.
	Up(ctx context.Context, databaseURL string) error
}

// defaultMigrator is what New uses: the one place that names the product's migrations.
var defaultMigrator Migrator = product{}

// product is the migrations of sqlmigrations.
type product struct{}

// Hash implements Migrator.
func (product) Hash() string { return sqlmigrations.Hash() }

// Up implements Migrator.
func (product) Up(ctx context.Context, databaseURL string) error {
	return sqlmigrations.Up(ctx, databaseURL)
}

// Empty is the Migrator of tests that need extensions alone, such as vector.
type Empty struct{}

// Hash implements Migrator.
func (Empty) Hash() string { return "empty" }

// Up implements Migrator: it does nothing.
func (Empty) Up(context.Context, string) error { return nil }

// DB is a database that belongs to one test.
type DB struct {
	// URL is for pgx. Whoever connects must have disconnected or not mind: the database is dropped
	// with force when the test ends.
	URL string
	// Name of the database, unique on its server.
	Name string
	// Wall fails the test for statements that forget their tenant: the Tracer of a pool of the
	// product's on this database. See package tenantwall.
	Wall *tenantwall.Wall
}

// cleanupTimeout bounds dropping, when t.Context has ended, and starting a server: both take
// seconds, and more than twenty on a machine that is busy.
const cleanupTimeout = 2 * time.Minute

// New returns a fresh database with the product's migrations applied.
func New(t testing.TB) DB {
	t.Helper()
	return NewWith(t, defaultMigrator)
}

// Open returns the product's pool on a fresh database with its migrations applied, behind the
// wall between tenants. It is closed when the test ends.
func Open(t testing.TB) *postgres.DB {
	t.Helper()
	return Pool(t, New(t))
}

// Pool returns the product's pool on the database, behind the wall between tenants. It is closed
// when the test ends.
func Pool(t testing.TB, made DB) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: made.URL, Tracer: made.Wall})
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return db
}

// NewWith returns a fresh database with the migrations of m applied.
func NewWith(t testing.TB, m Migrator) DB {
	t.Helper()
	server := keeper.Acquire()
	template, err := ensureTemplate(t.Context(), server, m)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name := databaseName(t.Name())
	clone := "CREATE DATABASE " + quote(name) + " TEMPLATE " + quote(template)
	if !server.ExternalDatabase {
		// Copying files costs a checkpoint, which is cheap where nothing is synced: a third of the
		// time that logging every block takes.
		clone += " STRATEGY FILE_COPY"
	}
	err = exec(t.Context(), server.DatabaseURL, clone)
	if err != nil {
		t.Fatalf("pgtest: clone: %v", err)
	}
	db := DB{URL: withDatabase(server.DatabaseURL, name), Name: name}
	schema, err := schemaOf(t.Context(), template, db.URL)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() && os.Getenv("PARLANCE_TEST_KEEP") == "1" {
			t.Logf("kept for you (the shared stack ends 5 s after the last test that uses it):\n  psql '%s'", db.URL)
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanupTimeout)
		defer cancel()
		err := exec(ctx, server.DatabaseURL, "DROP DATABASE IF EXISTS "+quote(name)+" WITH (FORCE)")
		if err != nil {
			t.Errorf("pgtest: drop: %v", err)
		}
	})
	db.Wall = tenantwall.New(t, schema, callerOf)
	return db
}

// NewWall is the wall for a database that another way than New made, with the product's migrations.
func NewWall(t testing.TB, databaseURL string) *tenantwall.Wall {
	t.Helper()
	schema, err := tenantwall.ReadSchema(t.Context(), databaseURL)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return tenantwall.New(t, schema, callerOf)
}

// callerOf is the tenant of the request that a statement is sent for; empty outside of requests.
func callerOf(ctx context.Context) string { return string(workspaces.PrincipalFrom(ctx).TenantID) }

// schemas are the tables of the templates that this process has used.
var schemas sync.Map

// schemaOf is the tables of a template, read from a clone: a template with a connection cannot be
// cloned.
func schemaOf(ctx context.Context, template, databaseURL string) (*tenantwall.Schema, error) {
	if known, ok := schemas.Load(template); ok {
		return known.(*tenantwall.Schema), nil //nolint:forcetypeassert // nothing else is stored
	}
	read, err := tenantwall.ReadSchema(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	schemas.Store(template, read)
	return read, nil
}

// templates remembers which templates this process has seen complete.
var templates sync.Map

// ensureTemplate returns the template database of m, making it if this is its first use anywhere.
func ensureTemplate(ctx context.Context, server keeper.Addresses, m Migrator) (string, error) {
	name := "parlance_template_" + identifier(m.Hash(), 24)
	once, _ := templates.LoadOrStore(name, sync.OnceValue(func() error {
		// Another test may wait for the same template: the end of this one must not end it.
		return makeTemplate(context.WithoutCancel(ctx), server.DatabaseURL, name, m)
	}))
	build, ok := once.(func() error)
	if !ok {
		return "", fmt.Errorf("unexpected %T among the templates", once)
	}
	return name, build()
}

// makeTemplate migrates a database under a working name and renames it when that has succeeded:
// a template that exists is complete. The advisory lock is for other test binaries.
func makeTemplate(ctx context.Context, server, name string, m Migrator) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // this gives the lock back
	_, err = conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", name)
	if err != nil {
		return fmt.Errorf("lock template: %w", err)
	}
	var exists bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	fresh := name + "_new"
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + quote(fresh) + " WITH (FORCE)", "CREATE DATABASE " + quote(fresh)} {
		_, err = conn.Exec(ctx, statement)
		if err != nil {
			return fmt.Errorf("make template: %w", err)
		}
	}
	err = m.Up(ctx, withDatabase(server, fresh))
	if err != nil {
		return fmt.Errorf("migrate template: %w", err)
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+quote(fresh)+" RENAME TO "+quote(name))
	if err != nil {
		return fmt.Errorf("name template (does the migrator leave connections open?): %w", err)
	}
	return nil
}

// exec runs one statement on a connection of its own: CREATE and DROP DATABASE from many parallel
// tests would wait for each other on a shared one.
func exec(ctx context.Context, server, statement string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // the statement has been answered
	_, err = conn.Exec(ctx, statement)
	return err
}

// databaseName is readable in psql's \l and unique.
func databaseName(test string) string {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	return "test_" + identifier(test, 45) + "_" + hex.EncodeToString(random)
}

// identifier keeps what reads well in a name of at most limit bytes; Postgres cuts at 63.
func identifier(text string, limit int) string {
	clean := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '_'
	}, text)
	return clean[:min(len(clean), limit)]
}

func quote(name string) string {
	return pgx.Identifier{name}.Sanitize()
}

// connectSeconds is how long connecting to a test's database may take: on a machine that runs many
// tests at once, longer than anybody would wait otherwise.
const connectSeconds = "60"

// withDatabase exchanges the database in a URL.
func withDatabase(server, name string) string {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" {
		// The other form that libpq knows: key=value pairs, of which the last wins.
		return server + " dbname=" + name + " connect_timeout=" + connectSeconds
	}
	u.Path = "/" + name
	query := u.Query()
	query.Set("connect_timeout", connectSeconds)
	u.RawQuery = query.Encode()
	return u.String()
}
