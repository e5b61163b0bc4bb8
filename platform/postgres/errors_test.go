package postgres_test

import (
	"context"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
)

// TestBrokenBefore uses a connection that broke while nobody looked: the database is away.
func TestBrokenBefore(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.NewWith(t, pgtest.Empty{}).URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err = conn.Exec(t.Context(), "SELECT 1"); fault.ReasonOf(postgres.MapError(err)) != fault.ServiceUnavailable {
		t.Errorf("got %v", postgres.MapError(err))
	}
}

// TestHangs connects to a server that takes connections and says nothing, as one that is frozen: it
// is away.
func TestHangs(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, err = pgx.Connect(t.Context(), "postgres://nobody@"+listener.Addr().String()+"/none?sslmode=disable&connect_timeout=1")
	if fault.ReasonOf(postgres.MapError(err)) != fault.ServiceUnavailable {
		t.Errorf("got %v", postgres.MapError(err))
	}
}

// TestCommits: a database that commits does, and one that refuses has answered.
func TestCommits(t *testing.T) {
	t.Parallel()
	url := newURL(t)
	db := open(t, url)
	if err := db.Commits(t.Context()); err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := db.Commits(ended); err == nil {
		t.Error("it has committed behind the end")
	}
	exec(t, db, `CREATE FUNCTION public.pg_logical_emit_message(boolean, text, text) RETURNS text
		LANGUAGE plpgsql AS 'BEGIN RAISE ''no''; END'`)
	if err := open(t, with(t, url, "search_path", "public,pg_catalog")).Commits(t.Context()); err != nil {
		t.Errorf("one that refuses: %v", err)
	}
}
