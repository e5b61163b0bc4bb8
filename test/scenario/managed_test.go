package scenario

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/sqlmigrations"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pgtest"
)

// managed is a database as a provider sells it: ours to migrate, and we are no superuser.
func managed(t *testing.T, migrator pgtest.Migrator) (superuser, ours string) {
	t.Helper()
	db := pgtest.NewWith(t, migrator)
	role := "role_" + db.Name[len(db.Name)-8:] // its random part
	owned := "ALTER DATABASE " + ident(db.Name) + " OWNER TO " + ident(role)
	run(t, db.URL, "CREATE ROLE "+ident(role)+" LOGIN NOSUPERUSER", owned, "ALTER SCHEMA public OWNER TO "+ident(role),
		// The servers of tests have it on, others do not.
		"ALTER DATABASE "+ident(db.Name)+" SET hnsw.iterative_scan = 'off'")
	t.Cleanup(func() {
		run(t, db.URL, "REASSIGN OWNED BY "+ident(role)+" TO CURRENT_USER", "DROP OWNED BY "+ident(role), "DROP ROLE "+ident(role))
	})
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("user", role)
	u.RawQuery = query.Encode()
	return db.URL, u.String()
}

func ident(name string) string { return pgx.Identifier{name}.Sanitize() }

// run executes statements one by one.
func run(t *testing.T, databaseURL string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // cleanups use it too
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // all statements have been answered
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestManagedPostgres: without a superuser's rights everything works, and a question finds all that
// there is to find where an agent sees one passage in fifteen.
func TestManagedPostgres(t *testing.T) {
	t.Parallel()
	_, ours := managed(t, pgtest.Empty{})
	if err := sqlmigrations.Up(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	env := harness.Start(t, harness.Options{DatabaseURL: ours})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	source := func(name string, sentences int) string {
		id := env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"),
			`{"name":"`+name+`","content":"`+strings.Repeat("A refund takes fourteen days. ", sentences)+`"}`).Must(t, 202).Text("id")
		harness.Await(t, harness.Patience, "the source is ready", func() bool {
			return env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 200).Text("status") == "ready"
		})
		return id
	}
	seen := source("seen", 2000) // about 30 passages
	env.Do(t, "POST", env.Tenant.In("/agents/"+agent+"/knowledge-base/attach"), map[string]any{"source_ids": []string{seen}}).Must(t, 200)
	source("others", 30_000)
	for _, ranking := range []string{"similarity", "hybrid"} {
		found := env.Do(t, "POST", env.Tenant.In("/knowledge-base/query"), map[string]any{
			"agent_id": agent,
			"q":        "How long does a refund take?", "top_k": 20, "ranking": ranking,
		}).Must(t, 200)
		if n := len(found.List("chunks")); n != 20 {
			t.Errorf("%s found %d of the 20 passages", ranking, n)
		}
	}
}

// TestManagedWithoutExtension: who may not make the extension learns who has to.
func TestManagedWithoutExtension(t *testing.T) {
	t.Parallel()
	superuser, ours := managed(t, pgtest.Empty{})
	run(t, superuser, "DROP EXTENSION vector")
	err := sqlmigrations.Up(t.Context(), ours)
	if err == nil || !strings.Contains(err.Error(), "let a superuser run CREATE EXTENSION vector in this database once") {
		t.Fatalf("got %v", err)
	}
	run(t, superuser, "CREATE EXTENSION vector")
	if err := sqlmigrations.Up(t.Context(), ours); err != nil {
		t.Errorf("after that: %v", err)
	}
}
