package harness

import (
	"cmp"
	"testing"

	"parlance.dev/parlance/workspaces"
)

// Tenant is a customer with a workspace and a key of every scope.
type Tenant struct {
	ID, WorkspaceID string
	// The keys' secrets; none is restricted to the workspace.
	Admin, Operator, Runtime, Read string
}

// NewTenant makes a tenant on a plan; empty: enterprise.
func (e *Env) NewTenant(t testing.TB, plan string) Tenant {
	t.Helper()
	made, err := e.App.Workspaces.CreateTenant(t.Context(), "Acme", cmp.Or(plan, "enterprise"))
	if err != nil {
		t.Fatal(err)
	}
	tenant := Tenant{ID: string(made.Tenant.ID), WorkspaceID: string(made.Workspace.ID), Admin: made.Key.Secret.Reveal()}
	tenant.Operator = e.NewKey(t, tenant, "operator", "")
	tenant.Runtime = e.NewKey(t, tenant, "runtime", "")
	tenant.Read = e.NewKey(t, tenant, "read", "")
	return tenant
}

// NewKey makes a key of the tenant, restricted to a workspace unless that is empty.
func (e *Env) NewKey(t testing.TB, tenant Tenant, scope, workspaceID string) (secret string) {
	t.Helper()
	owner := workspaces.Principal{TenantID: workspaces.TenantID(tenant.ID), Scope: workspaces.ScopeAdmin}
	key, err := e.App.Workspaces.CreateKey(t.Context(), owner, workspaces.CreateKeyParams{
		Name: scope, Scope: scope, WorkspaceID: workspaces.ID(workspaceID),
	})
	if err != nil {
		t.Fatal(err)
	}
	return key.Secret.Reveal()
}

// In is a path in the tenant's workspace: In("/agents") is /v1/workspaces/ws_…/agents.
func (t Tenant) In(path string) string { return "/v1/workspaces/" + t.WorkspaceID + path }
