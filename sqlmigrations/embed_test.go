package sqlmigrations_test

import (
	"errors"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sqlmigrations"
	"parlance.dev/parlance/test/pgtest"
)

// TestUp runs the whole history on an empty database, and again on top of itself: a migration
// that was not recorded before a crash is repeated.
func TestUp(t *testing.T) {
	t.Parallel()
	url := pgtest.NewWith(t, pgtest.Empty{}).URL
	if err := sqlmigrations.Up(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	statuses, err := sqlmigrations.Status(t.Context(), url)
	if err != nil || len(statuses) == 0 {
		t.Fatalf("%d migrations, %v", len(statuses), err)
	}
	for _, status := range statuses {
		if status.AppliedAt.IsZero() {
			t.Errorf("%s is not applied", status.Name)
		}
	}
	forget(t, url)
	if err := sqlmigrations.Up(t.Context(), url); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if len(sqlmigrations.Hash()) != 16 {
		t.Errorf("hash %q", sqlmigrations.Hash())
	}
}

// TestUpOther: a database of the same migrations' names with another schema is refused in words,
// and one that a newer version has migrated is not looked at.
func TestUpOther(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t).URL
	execute(t, url, "ALTER TABLE sources DROP COLUMN queued_until")
	if err := sqlmigrations.Up(t.Context(), url); !errors.Is(err, sqlmigrations.ErrOther) ||
		!strings.Contains(err.Error(), "sources.queued_until") {
		t.Errorf("a database of other migrations: %v", err)
	}
	execute(t, url, "INSERT INTO bun_migrations (name, group_id) VALUES ('9999', 2)")
	if err := sqlmigrations.Up(t.Context(), url); err != nil {
		t.Errorf("a database of a newer version: %v", err)
	}
}

// forget takes away the record that the migrations ran.
func forget(t *testing.T, url string) {
	t.Helper()
	execute(t, url, "TRUNCATE bun_migrations")
}

func execute(t *testing.T, url, query string) {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}
