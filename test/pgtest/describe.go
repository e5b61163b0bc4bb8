package pgtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The catalog's own words for what a schema is made of, in an order that does not depend on how
// it came about.
const (
	selectTables = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
		AND NOT relispartition ORDER BY relname`
	selectColumns = `
		SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
		    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
		    || CASE a.attidentity WHEN 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END
		    || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
		FROM pg_attribute AS a
		LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = ('public.' || $1)::regclass AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY a.attnum`
	selectConstraints = `
		SELECT 'CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
		FROM pg_constraint
		WHERE conrelid = ('public.' || $1)::regclass AND contype <> 'n'
		ORDER BY conname`
	selectIndexes = `
		SELECT indexdef || ';'
		FROM pg_indexes AS i
		WHERE schemaname = 'public' AND tablename = $1
		  AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = i.indexname AND contype IN ('p', 'u'))
		ORDER BY indexname`
)

// Describe is the schema of a database in the catalog's words, the migrations' own table left out.
func Describe(t testing.TB, url string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // only read
	var out strings.Builder
	out.WriteString("-- The schema that the migrations make, as Postgres describes it. Written by the tests: -update.\n")
	for _, table := range column(t, conn, selectTables) {
		if strings.HasPrefix(table, "bun_") {
			continue
		}
		lines := append(column(t, conn, selectColumns, table), column(t, conn, selectConstraints, table)...)
		fmt.Fprintf(&out, "\nCREATE TABLE %s (\n    %s\n);\n", table, strings.Join(lines, ",\n    "))
		for _, index := range column(t, conn, selectIndexes, table) {
			out.WriteString(index + "\n")
		}
	}
	return out.String()
}

func column(t testing.TB, conn *pgx.Conn, query string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return values
}
