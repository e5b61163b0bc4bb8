package postgres_test

import (
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
