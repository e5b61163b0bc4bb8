package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
)

// execute runs statements one by one on a connection of their own.
func execute(t *testing.T, databaseURL string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // cleanups use it too
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// with is the URL with one more parameter.
func with(t *testing.T, databaseURL, name, value string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// TestOpenRefuses: what would fail us later is said at the start, with what to do.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	old := pgtest.NewWith(t, pgtest.Empty{})
	execute(t, old.URL, "UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
	ascii := pgtest.NewWith(t, pgtest.Empty{})
	name := ascii.Name + "_ascii"
	execute(t, ascii.URL, "CREATE DATABASE "+name+" ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() { execute(t, ascii.URL, "DROP DATABASE "+name+" WITH (FORCE)") })
	asciiURL := strings.Replace(ascii.URL, ascii.Name, name, 1)
	for want, databaseURL := range map[string]string{
		"pgvector 0.7.4 is too old: install 0.8.0 or newer, then ALTER EXTENSION vector UPDATE": old.URL,
		"is SQL_ASCII and must be UTF8":       asciiURL,
		"default_transaction_read_only is on": with(t, old.URL, "default_transaction_read_only", "on"),
	} {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: databaseURL})
		if err == nil {
			db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestStandby: a primary that has become a standby costs its connections one error, which callers
// are told to try again, and not every later one.
func TestStandby(t *testing.T) {
	t.Parallel()
	url := pgtest.NewWith(t, pgtest.Empty{}).URL
	db, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "SET default_transaction_read_only = on"); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "CREATE TABLE one ()")
	if got := fault.From(postgres.MapError(err)); got.Reason != fault.ServiceUnavailable {
		t.Errorf("a write to a standby: %v", err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE one ()"); err != nil {
		t.Errorf("the connection is still used: %v", err)
	}
}

// TestCheckSessions: the direct URL must lead to the same database.
func TestCheckSessions(t *testing.T) {
	t.Parallel()
	here, there := pgtest.NewWith(t, pgtest.Empty{}).URL, pgtest.NewWith(t, pgtest.Empty{}).URL
	for direct, want := range map[string]string{
		"": "", with(t, here, "application_name", "direct"): "", there: "lead to different databases",
	} {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: here, DirectURL: direct})
		if err != nil {
			t.Fatal(err)
		}
		err = db.CheckSessions(t.Context())
		db.Close()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", direct, err, want)
		}
	}
}
