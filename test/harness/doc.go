// Package harness runs the whole service for tests that look at it from outside: server and
// worker joined as in production, on databases of the test's own, behind a real port.
//
//	env := harness.Start(t, harness.Options{})
//	made := env.Do(t, "POST", "/v1/workspaces/"+env.Tenant.WorkspaceID+"/agents", `{"name":"Ada"}`)
//	… made.Status, made.Header, made.Text("id"), made.Problem …
//
// Server and worker run in the test's process unless Options leaves them out; then StartProcess
// runs the built program beside the same databases, to be killed. Everything ends with the test.
package harness
