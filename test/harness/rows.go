package harness

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Rows reads the only column of a query.
func Rows[T any](t testing.TB, e *Env, query string, args ...any) []T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), e.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // only read
	found, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(found, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// Counts returns the number of rows of every table. Partitions, which are created and dropped by
// themselves, are counted with their table. Refusals in the audit log are not counted: they are
// recorded about requests that change nothing.
func (e *Env) Counts(t testing.TB) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, table := range Rows[string](t, e,
		"SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition") {
		query := "SELECT count(*) FROM " + pgx.Identifier{table}.Sanitize()
		if table == "audit_entries" {
			query += " WHERE outcome <> 'auth-scope'"
		}
		counts[table] = Rows[int](t, e, query)[0]
	}
	return counts
}

// Exec changes what no API allows a test to change.
func (e *Env) Exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), e.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), statement, args...)
	if err = errors.Join(err, conn.Close(context.WithoutCancel(t.Context()))); err != nil {
		t.Fatal(err)
	}
}
