package postgres_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"parlance.dev/parlance/platform/postgres"
)

// TestPipeline: statements of a pipeline hold together, and each sees what was there when it began.
func TestPipeline(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	exec(t, db, "CREATE TABLE places (id int PRIMARY KEY)")
	changed, err := db.Pipeline(t.Context(), db.NewRaw("INSERT INTO places VALUES (?), (?)", 1, 2), db.NewRaw("DELETE FROM places WHERE id = ?", 1))
	if err != nil || len(changed) != 2 || changed[0] != 2 || changed[1] != 1 {
		t.Fatalf("changed %v (%v)", changed, err)
	}
	_, err = db.Pipeline(t.Context(), db.NewRaw("INSERT INTO places VALUES (3)"), db.NewRaw("INSERT INTO places VALUES (2)"))
	if !postgres.IsUnique(err, "") || count(t, db, "places") != 1 {
		t.Fatalf("after a refused statement there are %d rows (%v)", count(t, db, "places"), err)
	}
	var taking sync.WaitGroup
	for id := range 30 {
		taking.Go(func() {
			take := db.NewRaw("INSERT INTO places SELECT ? WHERE (SELECT count(*) FROM places) < 5", 100+id)
			if _, err := db.Pipeline(t.Context(), db.Lock("places"), take); err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
	taking.Wait()
	if n := count(t, db, "places"); n != 5 {
		t.Errorf("%d took one of five places", n)
	}
}

// TestAsk: the rows of each statement come to it, and an error of who reads them is the pipeline's.
func TestAsk(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	exec(t, db, "CREATE TABLE places (id int PRIMARY KEY, name text)")
	var ids []int
	var name string
	changed, err := db.Ask(t.Context(),
		postgres.Step{Statement: db.NewRaw("INSERT INTO places VALUES (?, ?), (?, 'b?')", 1, "a?'", 2)},
		postgres.Step{Statement: db.NewRaw("SELECT id FROM places ORDER BY id"), Row: func(scan func(...any) error) error {
			ids = append(ids, 0)
			return scan(&ids[len(ids)-1])
		}},
		postgres.Step{Statement: db.NewRaw("DELETE FROM places WHERE id = 1 RETURNING name"), Row: func(scan func(...any) error) error { return scan(&name) }},
		postgres.Step{Statement: db.NewRaw("SELECT FROM places FOR UPDATE")},
	)
	if err != nil || !slices.Equal(changed, []int64{2, 2, 1, 1}) || !slices.Equal(ids, []int{1, 2}) || name != "a?'" {
		t.Fatalf("changed %v, found %v and %q (%v)", changed, ids, name, err)
	}
	unread := errors.New("not as it should be")
	_, err = db.Ask(t.Context(), postgres.Step{Statement: db.NewRaw("SELECT 1"), Row: func(func(...any) error) error { return unread }})
	if !errors.Is(err, unread) {
		t.Errorf("got %v", err)
	}
	if _, err = db.Ask(t.Context(), postgres.Step{Statement: db.NewRaw("INSERT INTO places VALUES (2)"), Row: func(func(...any) error) error { return nil }}); !postgres.IsUnique(err, "") {
		t.Errorf("got %v", err)
	}
	if n := count(t, db, "places"); n != 1 {
		t.Errorf("%d rows are left", n)
	}
}
