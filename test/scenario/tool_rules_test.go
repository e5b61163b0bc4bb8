package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/test/harness"
)

// TestToolRules: the rules of a tool's retries and breaker are kept, changed by their members, and
// reset by null.
func TestToolRules(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	made := env.Do(t, "POST", env.Tenant.In("/tools"), `{"slug":"find","description":"Finds.","kind":"http",
		"webhook_url":"https://example.com/","retry":{"max_attempts":5,"statuses":[500,503]}}`).Must(t, 201)
	path := env.Tenant.In("/tools/" + made.Text("id"))
	want := func(answer harness.Response, member string, value any) {
		t.Helper()
		if diff := cmp.Diff(value, answer.At(member)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", member, diff)
		}
	}
	want(made, "breaker", nil)
	changed := env.Do(t, "PATCH", path, `{"retry":{"max_attempts":1},"breaker":{"min_calls":4,"failure_ratio":0.25}}`).Must(t, 200)
	want(changed, "retry", map[string]any{"max_attempts": 1.0, "statuses": []any{500.0, 503.0}})
	want(changed, "breaker", map[string]any{
		"disabled": false, "failure_ratio": 0.25, "min_calls": 4.0, "window_seconds": 0.0, "pause_seconds": 0.0,
	})
	reset := env.Do(t, "PATCH", path, `{"retry":null}`).Must(t, 200)
	want(reset, "retry", nil)
	checkProblem(t, env.Do(t, "PATCH", path, `{"retry":{"max_attempts":6}}`), 400, "invalid-request")
	checkProblem(t, env.Do(t, "PATCH", path, `{"breaker":{"failure_ratio":2}}`), 400, "invalid-request")
}
