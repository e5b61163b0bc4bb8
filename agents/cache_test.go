package agents_test

import (
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

// TestRecallTellsNobody: a remembered agent costs a stranger, and a key of another workspace, as
// many statements as an agent that never was, so that the time says nothing either.
func TestRecallTellsNobody(t *testing.T) {
	t.Parallel()
	database := pgtest.New(t)
	db, err := postgres.Open(t.Context(), postgres.Config{URL: database.URL, Tracer: database.Wall})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tenancy := workspaces.New(workspaces.Deps{DB: db})
	ours, err := tenancy.CreateTenant(t.Context(), "ours", "free")
	if err != nil {
		t.Fatal(err)
	}
	service := agents.New(agents.Deps{DB: db, Workspaces: tenancy})
	us := workspaces.Principal{TenantID: ours.Tenant.ID, Scope: workspaces.ScopeAdmin}
	agent, err := service.Create(t.Context(), workspaces.Ref{TenantID: us.TenantID, ID: ours.Workspace.ID}, "Ada", agents.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := service.FindCached(t.Context(), us, agent.ID); err != nil {
		t.Fatal(err)
	}
	cost := func(p workspaces.Principal, id agents.ID) int {
		before := database.Wall.Seen()
		_, cached, err := service.FindCached(t.Context(), p, id)
		if cached {
			t.Errorf("cached for %+v", p)
		}
		wantReason(t, err, fault.ResourceNotFound)
		return database.Wall.Seen() - before
	}
	for name, p := range map[string]workspaces.Principal{
		"OtherTenant":    {TenantID: "ten_other", Scope: workspaces.ScopeAdmin},
		"OtherWorkspace": {TenantID: us.TenantID, WorkspaceID: "ws_other", Scope: workspaces.ScopeOperator},
	} {
		if there, never := cost(p, agent.ID), cost(p, agents.ID(idgen.New(idgen.Agent))); there != never {
			t.Errorf("%s: %d statements for an agent that is there, %d for one that never was", name, there, never)
		}
	}
	if _, cached, err := service.FindCached(t.Context(), us, agent.ID); err != nil || !cached {
		t.Errorf("for its own tenant: cached %v, %v", cached, err)
	}
}
