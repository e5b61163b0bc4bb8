package scenario

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/test/fake/httptool"
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
	for body, field := range map[string]string{
		`{"slug":"crm","description":"d","kind":"mcp","mcp_server_url":"https://example.com/","retry":{"max_attempts":2}}`: "retry",
		`{"slug":"crm","description":"d","kind":"mcp","mcp_server_url":"https://example.com/","retry":null}`:               "",
	} {
		answer := env.Do(t, "POST", env.Tenant.In("/tools"), body)
		if want := map[bool]int{true: 201, false: 400}[field == ""]; answer.Status != want {
			t.Errorf("%s: %s", body, answer.Body)
		} else if field != "" && answer.Text("errors", 0, "field") != field {
			t.Errorf("%s: %s", body, answer.Body)
		}
	}
}

// TestToolDeepAnswer: an answer that is nested deeper than 1,000 levels is text. It is the
// endpoint's own, so a run gets 200 however deep it is.
func TestToolDeepAnswer(t *testing.T) {
	t.Parallel()
	shop := httptool.New(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	for levels, isJSON := range map[int]bool{1000: true, 1001: false, 5000: false, 9000: false, 11_000: false} {
		path := "/deep/" + strconv.Itoa(levels)
		body := strings.Repeat("[", levels) + strings.Repeat("]", levels)
		step := httptool.Step{Header: map[string]string{"Content-Type": "application/json"}, Body: body}
		shop.Script(path, step, step)
		tool := env.Do(t, "POST", env.Tenant.In("/tools"), map[string]string{
			"slug": "deep" + strconv.Itoa(levels), "description": "Digs.", "kind": "http", "method": "GET", "webhook_url": shop.URL + path,
		}).Must(t, 201).Text("id")
		run := env.Do(t, "POST", env.Tenant.In("/tools/"+tool+"/run"), `{}`)
		if run.Status != 200 || run.Text("output_text") != body || run.At("error") != nil || (run.At("output") != nil) != isJSON {
			t.Errorf("%d levels: %d %.200s", levels, run.Status, run.Body)
		}
		connected := env.Do(t, "POST", "/parlance.v1.ToolService/RunTool", map[string]string{
			"workspaceId": env.Tenant.WorkspaceID, "toolId": tool,
		})
		if connected.Status != 200 {
			t.Errorf("%d levels over Connect: %d %.200s", levels, connected.Status, connected.Body)
		}
	}
}
