package sqlmigrations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/postgres"
)

// ErrOther says that a database's schema is not what its recorded migrations make.
var ErrOther = errors.New("this database was made by another, unreleased version, whose migrations have been " +
	"changed since: it cannot be brought to this one. " +
	"Keep using that version with it, or begin with a new database (for `parlance dev`: delete its data directory, " +
	"or name another with --data-dir)")

const selectColumns = `
SELECT c.relname || '.' || a.attname
FROM pg_attribute AS a
JOIN pg_class AS c ON c.oid = a.attrelid
WHERE c.relnamespace = 'public'::regnamespace
  AND c.relkind IN ('r', 'p')
  AND a.attnum > 0
  AND NOT a.attisdropped`

// check makes sure that every column of schema.sql is there. A database that a newer version has
// migrated may have dropped some, and is not looked at. Errors: ErrOther with what is missing.
func check(ctx context.Context, databaseURL string) error {
	db, err := postgres.Open(ctx, postgres.Config{URL: databaseURL, MaxConns: 1})
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read from
	ours, err := files.ReadDir(".")
	if err != nil {
		return fmt.Errorf("listing the migrations: %w", err)
	}
	var applied int
	if err := db.NewRaw("SELECT count(*) FROM bun_migrations").Scan(ctx, &applied); err != nil {
		return fmt.Errorf("counting the applied migrations: %w", err)
	}
	if applied > len(ours)-1 { // schema.sql is none
		return nil
	}
	var there []string
	if err := db.NewRaw(selectColumns).Scan(ctx, &there); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	wanted, err := columns()
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(wanted, func(column string) bool { return slices.Contains(there, column) })
	if len(missing) > 0 {
		return fmt.Errorf("%w. Missing, among others: %s", ErrOther, missing[0])
	}
	return nil
}

// columns are those of schema.sql, "table.column".
func columns() ([]string, error) {
	schema, err := files.ReadFile("schema.sql")
	if err != nil {
		return nil, fmt.Errorf("reading schema.sql: %w", err)
	}
	var found []string
	table := ""
	for line := range strings.Lines(string(schema)) {
		if name, ok := strings.CutPrefix(line, "CREATE TABLE "); ok {
			table, _, _ = strings.Cut(name, " ")
			continue
		}
		definition, inside := strings.CutPrefix(line, "    ")
		column, _, _ := strings.Cut(definition, " ")
		if inside && column != "CONSTRAINT" {
			found = append(found, table+"."+column)
		}
	}
	return found, nil
}
