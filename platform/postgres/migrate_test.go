package postgres_test

import (
	"sync"
	"testing"
	"testing/fstest"

	"parlance.dev/parlance/platform/postgres"
)

func files(content map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range content {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	url := newURL(t)
	db := open(t, url)
	first := map[string]string{
		"0001_create_notes.tx.up.sql": "CREATE TABLE notes (id text);\n\n-- a ? stays\nINSERT INTO notes VALUES ('one?');\n",
		"schema.sql":                  "not a migration",
	}
	statuses, err := postgres.Migrations(t.Context(), url, files(first))
	if err != nil || len(statuses) != 1 || statuses[0].Name != "0001_create_notes" || !statuses[0].AppliedAt.IsZero() {
		t.Fatalf("before: %v, %v", statuses, err)
	}

	// Several processes at once: each must succeed, the file must run once.
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if err := postgres.Migrate(t.Context(), url, files(first)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := count(t, db, "notes"); got != 1 {
		t.Errorf("the migration ran %d times", got)
	}

	// A failing file changes nothing and is not recorded; corrected, it runs.
	second := map[string]string{"0002_add_note.tx.up.sql": "INSERT INTO notes VALUES ('two');\nSELECT 1/0;"}
	second["0001_create_notes.tx.up.sql"] = first["0001_create_notes.tx.up.sql"]
	if err := postgres.Migrate(t.Context(), url, files(second)); err == nil || count(t, db, "notes") != 1 {
		t.Errorf("a failing migration: %v, %d rows", err, count(t, db, "notes"))
	}
	second["0002_add_note.tx.up.sql"] = "INSERT INTO notes VALUES ('two');"
	if err := postgres.Migrate(t.Context(), url, files(second)); err != nil || count(t, db, "notes") != 2 {
		t.Errorf("the corrected migration: %v, %d rows", err, count(t, db, "notes"))
	}
	statuses, err = postgres.Migrations(t.Context(), url, files(second))
	if err != nil || len(statuses) != 2 || statuses[0].AppliedAt.IsZero() || statuses[1].AppliedAt.IsZero() {
		t.Errorf("after: %v, %v", statuses, err)
	}
}

func TestMigrationNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"1_create_notes.tx.up.sql", "0001_create.tx.up.sql", "0001_Create_Notes.tx.up.sql",
		"0001_create_notes.sql", "0001_create_notes.down.sql",
	} {
		if _, err := postgres.MigrationHash(files(map[string]string{name: ""})); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := postgres.MigrationHash(files(nil)); err == nil {
		t.Error("no migrations are accepted")
	}
	two := files(map[string]string{"0001_create_notes.tx.up.sql": "SELECT 1", "0001_create_pets.tx.up.sql": "SELECT 1"})
	if _, err := postgres.Migrations(t.Context(), "postgres:///unused", two); err == nil {
		t.Error("two migrations with one number are accepted")
	}
}

func TestMigrationHash(t *testing.T) {
	t.Parallel()
	hash := func(name, text string) string {
		sum, err := postgres.MigrationHash(files(map[string]string{name: text, "schema.sql": text}))
		if err != nil || len(sum) != 16 {
			t.Fatalf("hash %q, %v", sum, err)
		}
		return sum
	}
	base := hash("0001_create_notes.tx.up.sql", "SELECT 1")
	if base != hash("0001_create_notes.tx.up.sql", "SELECT 1") {
		t.Error("the hash changes by itself")
	}
	if base == hash("0001_create_notes.tx.up.sql", "SELECT 2") || base == hash("0002_create_notes.tx.up.sql", "SELECT 1") {
		t.Error("the hash does not notice a change")
	}
}
