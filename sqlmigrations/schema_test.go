package sqlmigrations_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/test/pgtest"
)

var update = flag.Bool("update", false, "write schema.sql anew")

// TestSchemaFile: schema.sql is what the migrations make, so that a change of the schema is seen
// in review as one. Rewrite it with -update.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	got := pgtest.Describe(t, pgtest.New(t).URL)
	if *update {
		if err := os.WriteFile("schema.sql", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("schema.sql is not what the migrations make; run go test ./sqlmigrations -update\n%s", diff)
	}
}
