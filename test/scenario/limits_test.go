package scenario

import (
	"sync"
	"testing"

	"parlance.dev/parlance/test/harness"
)

// TestWorkspacesAndKeysAreCounted creates more workspaces and keys at the same moment than a tenant
// may have.
func TestWorkspacesAndKeysAreCounted(t *testing.T) {
	t.Parallel()
	const most, tries = 8, 12
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_WORKSPACES_PER_TENANT": "8", "PARLANCE_API_KEYS_PER_TENANT": "8",
	}})
	other := env.NewTenant(t, "enterprise")
	for _, row := range []struct{ path, table, reason string }{
		{"/v1/workspaces", "workspaces", "workspaces-full"}, {"/v1/api-keys", "api_keys", "api-keys-full"},
	} {
		count := func() int {
			return harness.Rows[int](t, env, "SELECT count(*) FROM "+row.table+" WHERE tenant_id = $1", env.Tenant.ID)[0]
		}
		before := count()
		answers := make([]harness.Response, tries)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = env.Do(t, "POST", row.path, `{"name":"one of many"}`) })
		}
		all.Wait()
		var made []string
		for _, answer := range answers {
			if answer.Status == 201 {
				made = append(made, answer.Text("id"))
			} else {
				checkProblem(t, answer, 409, row.reason)
			}
		}
		if n := count(); n != most || len(made) != most-before {
			t.Fatalf("%s: %d rows, %d made, had %d", row.table, n, len(made), before)
		}
		env.Do(t, "POST", row.path, `{"name":"of another tenant"}`, harness.Key(other.Admin)).Must(t, 201)
		env.Do(t, "DELETE", row.path+"/"+made[0], nil).Must(t, 204)
		env.Do(t, "POST", row.path, `{"name":"in its place"}`).Must(t, 201)
		checkProblem(t, env.Do(t, "POST", row.path, `{"name":"too many"}`), 409, row.reason)
		if row.table != "api_keys" {
			continue
		}
		// A key that has expired is not counted, and takes a place when it is to work again.
		env.Exec(t, "UPDATE api_keys SET expires_at = now() - interval '1 hour' WHERE id = $1", made[1])
		env.Do(t, "POST", row.path, `{"name":"for the expired one"}`).Must(t, 201)
		checkProblem(t, env.Do(t, "PATCH", row.path+"/"+made[1], `{"expires_at":"2100-01-01T00:00:00Z"}`), 409, row.reason)
		env.Do(t, "PATCH", row.path+"/"+made[1], `{"name":"renamed"}`).Must(t, 200)
		env.Do(t, "DELETE", row.path+"/"+made[2], nil).Must(t, 204)
		env.Do(t, "PATCH", row.path+"/"+made[1], `{"expires_at":"2100-01-01T00:00:00Z"}`).Must(t, 200)
	}
}
