package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
)

// TestPipeline: statements of a pipeline hold together, and each sees what was there when it began.
func TestPipeline(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	exec(t, db, "CREATE TABLE places (id int PRIMARY KEY)")
	changed, err := db.Pipeline(t.Context(),
		postgres.Step{Statement: db.NewRaw("INSERT INTO places VALUES (?), (?)", 1, 2)},
		postgres.Step{Statement: db.NewRaw("DELETE FROM places WHERE id = ?", 1)})
	if err != nil || len(changed) != 2 || changed[0] != 2 || changed[1] != 1 {
		t.Fatalf("changed %v (%v)", changed, err)
	}
	_, err = db.Pipeline(t.Context(),
		postgres.Step{Statement: db.NewRaw("INSERT INTO places VALUES (3)")},
		postgres.Step{Statement: db.NewRaw("INSERT INTO places VALUES (2)")})
	if !postgres.IsUnique(err, "") || count(t, db, "places") != 1 {
		t.Fatalf("after a refused statement there are %d rows (%v)", count(t, db, "places"), err)
	}
	var taking sync.WaitGroup
	for id := range 30 {
		taking.Go(func() {
			take := db.NewRaw("INSERT INTO places SELECT ? WHERE (SELECT count(*) FROM places) < 5", 100+id)
			if _, err := db.Pipeline(t.Context(), db.Lock("places"), postgres.Step{Statement: take}); err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
	taking.Wait()
	if n := count(t, db, "places"); n != 5 {
		t.Errorf("%d took one of five places", n)
	}
}

// TestPipelineRows: each step reads its own rows, and an error of its Row is returned.
func TestPipelineRows(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	exec(t, db, "CREATE TABLE places (id int PRIMARY KEY, name text)")
	var ids []int
	var name string
	changed, err := db.Pipeline(t.Context(),
		postgres.Step{Statement: db.NewRaw("INSERT INTO places VALUES (?, ?), (?, 'b?')", 1, "a?'", 2)},
		postgres.Step{Statement: db.NewRaw("SELECT id FROM places ORDER BY id"), Row: func(scan func(...any) error) error {
			ids = append(ids, 0)
			return scan(&ids[len(ids)-1])
		}},
		postgres.Step{
			Statement: db.NewRaw("DELETE FROM places WHERE id = 1 RETURNING name"),
			Row:       func(scan func(...any) error) error { return scan(&name) },
		},
		postgres.Step{Statement: db.NewRaw("SELECT FROM places FOR UPDATE")},
	)
	if err != nil || !slices.Equal(changed, []int64{2, 2, 1, 1}) || !slices.Equal(ids, []int{1, 2}) || name != "a?'" {
		t.Fatalf("changed %v, found %v and %q (%v)", changed, ids, name, err)
	}
	unread := errors.New("not as it should be")
	_, err = db.Pipeline(t.Context(), postgres.Step{Statement: db.NewRaw("SELECT 1"), Row: func(func(...any) error) error { return unread }})
	if !errors.Is(err, unread) {
		t.Errorf("got %v", err)
	}
	if _, err = db.Pipeline(t.Context(), postgres.Step{
		Statement: db.NewRaw("INSERT INTO places VALUES (2)"),
		Row:       func(func(...any) error) error { return nil },
	}); !postgres.IsUnique(err, "") {
		t.Errorf("got %v", err)
	}
	if n := count(t, db, "places"); n != 1 {
		t.Errorf("%d rows are left", n)
	}
}

// TestPipelinePrepares: SQL is prepared once on each connection, again when a migration has changed
// what it returns, and never where a pooler shares connections.
func TestPipelinePrepares(t *testing.T) {
	t.Parallel()
	url := newURL(t)
	const sql = "SELECT * FROM places WHERE id = $1"
	for name, config := range map[string]postgres.Config{
		"Direct": {URL: url, MaxConns: 1},
		"Pooled": {URL: url, DirectURL: with(t, url, "application_name", "direct"), MaxConns: 1},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := postgres.Open(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			exec(t, db, "DROP TABLE IF EXISTS places")
			exec(t, db, "CREATE TABLE places (id int PRIMARY KEY)")
			exec(t, db, "INSERT INTO places VALUES (7)")
			ask := func() error {
				_, err := db.Pipeline(t.Context(), postgres.Step{SQL: sql, Args: []any{7}, Row: func(func(...any) error) error { return nil }})
				return err
			}
			for range 2 {
				if err := ask(); err != nil {
					t.Fatal(err)
				}
			}
			prepared := 0
			if err := db.NewRaw("SELECT count(*) FROM pg_prepared_statements WHERE statement = ?", sql).Scan(t.Context(), &prepared); err != nil {
				t.Fatal(err)
			}
			if want := map[string]int{"Direct": 1}[name]; prepared != want {
				t.Errorf("%d statements are prepared, want %d", prepared, want)
			}
			exec(t, db, "ALTER TABLE places ADD COLUMN name text")
			if err := ask(); (err == nil) != (name == "Pooled") {
				t.Errorf("after the migration: %v", err)
			}
			if err := ask(); err != nil {
				t.Errorf("after that: %v", err)
			}
		})
	}
}

// TestPlansOfSmallTables: a prepared statement that was planned while its table had one row uses
// the index, also when there are thousands.
func TestPlansOfSmallTables(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: newURL(t), MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec(t, db, "CREATE TABLE notes (id text PRIMARY KEY) WITH (autovacuum_enabled = off)")
	exec(t, db, "INSERT INTO notes VALUES ('0')")
	exec(t, db, "ANALYZE notes")
	const sql = "SELECT id FROM notes WHERE id = $1"
	plan := func() string {
		t.Helper()
		for range 8 { // by default Postgres makes five plans for the values that it gets, then a generic one
			if _, err := db.Pipeline(t.Context(), postgres.Step{SQL: sql, Args: []any{"7"}}); err != nil {
				t.Fatal(err)
			}
		}
		var name string
		err := db.NewRaw("SELECT name FROM pg_prepared_statements WHERE statement = ?", sql).Scan(t.Context(), &name)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		if err := db.NewRaw("EXPLAIN EXECUTE ? ('7')", bun.Ident(name)).Scan(t.Context(), &lines); err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, "\n")
	}
	if got := plan(); !strings.Contains(got, "id = $1") {
		t.Fatalf("Postgres has not kept a plan for all values:\n%s", got)
	}
	exec(t, db, "INSERT INTO notes SELECT n::text FROM generate_series(1, 5000) AS n")
	if got := plan(); !strings.Contains(got, "notes_pkey") {
		t.Errorf("of thousands of rows:\n%s", got)
	}
}
