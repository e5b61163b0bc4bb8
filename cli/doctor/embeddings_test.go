package doctor_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/test/fake/openaiembed"
)

// TestStoredVectors: a workspace answers with a model that only another configuration can ask.
func TestStoredVectors(t *testing.T) {
	t.Parallel()
	in := install(t)
	stored := func(in installation) doctor.Finding {
		t.Helper()
		for _, finding := range in.examine(t, "embedder", nil) {
			if finding.Check == "stored" {
				return finding
			}
		}
		t.Fatal("stored vectors were not looked at")
		return doctor.Finding{}
	}
	if got := stored(in); got.Status != doctor.Skipped {
		t.Errorf("an empty installation: %+v", got)
	}
	conn, err := pgx.Connect(t.Context(), in["DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), `
		WITH tenant AS (
			INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES ('ten_1', 'acme', 'free', now(), now()) RETURNING id
		), workspace AS (
			INSERT INTO workspaces (id, tenant_id, name, created_at, updated_at) SELECT 'ws_1', id, 'main', now(),
			now() FROM tenant RETURNING id, tenant_id
		)
		SELECT 1 FROM workspace`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(),
		"INSERT INTO workspace_embeddings (workspace_id, tenant_id, model, error) VALUES ('ws_1', 'ten_1', $1, '')", openaiembed.Model)
	if err != nil {
		t.Fatal(err)
	}
	if got := stored(in); got.Status != doctor.Warning || !strings.Contains(got.Advice, "PARLANCE_EMBEDDING_PREVIOUS_BASE_URL") {
		t.Errorf("a model that is not configured: %+v", got)
	}
	previous := in.with("PARLANCE_EMBEDDING_PREVIOUS_BASE_URL", openaiembed.Start(t).URL,
		"PARLANCE_EMBEDDING_PREVIOUS_NAME", openaiembed.Model)
	if got := stored(previous); got.Status != doctor.OK {
		t.Errorf("configured as the one before: %+v", got)
	}
	if _, err := conn.Exec(t.Context(),
		"UPDATE workspace_embeddings SET error = 'The server is away.' WHERE tenant_id = 'ten_1'"); err != nil {
		t.Fatal(err)
	}
	if got := stored(previous); got.Status != doctor.Warning || !strings.Contains(got.Detail, "The server is away.") {
		t.Errorf("a failure: %+v", got)
	}
}
