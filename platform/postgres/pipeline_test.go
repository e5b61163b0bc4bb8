package postgres_test

import (
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
