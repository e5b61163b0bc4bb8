package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// TestCallsOfTurns takes turns over REST with a model over the wire: calls side by side keep their
// order, values of answers stay with the session, and after eight rounds the model must answer.
func TestCallsOfTurns(t *testing.T) {
	t.Parallel()
	asks := func(name, arguments string) openaichat.Call {
		return openaichat.Call{ID: "c_" + name, Name: name, Arguments: []string{arguments}}
	}
	script := []openaichat.Reply{
		{Calls: []openaichat.Call{asks("find", `{"name":"Ann"}`), asks("nothing", `{}`)}},
		{Text: []string{"Found."}},
		{Calls: []openaichat.Call{asks("order", `{}`)}},
		{Text: []string{"Ordered."}},
	}
	for range 9 {
		script = append(script, openaichat.Reply{Calls: []openaichat.Call{asks("find", `{}`)}})
	}
	llm := openaichat.New(t, script...)
	shop := httptool.New(t)
	shop.Script("/find", httptool.Step{
		Header: map[string]string{"Content-Type": "application/json"},
		Body:   `{"customer":{"id":"C-9","vip":true}}`,
	})
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_API_KEY": "sk-0123456789abcdef", "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"),
		`{"name":"Ada","instructions":"The customer is {{customer}}.","tools_config":{"client_tool_timeout_seconds":7}}`).Must(t, 201)
	agentPath := env.Tenant.In("/agents/" + agent.Text("id"))
	assignments := []any{
		map[string]any{"dynamic_variable": "customer", "value_path": "customer.id"},
		map[string]any{"dynamic_variable": "vip", "value_path": "$.customer.vip"},
	}
	for _, tool := range []map[string]any{
		{"slug": "find", "description": "Finds.", "kind": "http", "webhook_url": shop.URL + "/find"},
		{"slug": "order", "description": "Orders.", "kind": "http", "webhook_url": shop.URL + "/{{customer}}/order", "allow_dynamic_vars": true},
	} {
		made := env.Do(t, "POST", env.Tenant.In("/tools"), tool).Must(t, 201)
		env.Do(t, "POST", agentPath+"/tools/attach", map[string]any{"tool_id": made.Text("id"), "enabled": true}).Must(t, 200)
		if tool["slug"] == "find" {
			path := env.Tenant.In("/tools/" + made.Text("id"))
			changed := env.Do(t, "PATCH", path, map[string]any{"assignments": assignments}).Must(t, 200)
			if diff := cmp.Diff(assignments, changed.List("assignments")); diff != "" {
				t.Errorf("assignments (-want +got):\n%s", diff)
			}
			refused := env.Do(t, "PATCH", path, `{"assignments":[{"dynamic_variable":"secret__pin","value_path":"pin"}]}`)
			checkProblem(t, refused, 400, "invalid-request")
			if refused.Text("errors", 0, "field") != "assignments[0].dynamic_variable" {
				t.Errorf("the field is not named: %s", refused.Body)
			}
		}
	}
	session := env.Do(t, "POST", "/v1/sessions", map[string]any{
		"agent_id": agent.Text("id"), "user_id": "u",
		"modality": "text",
	}).Must(t, 201).Text("id")
	turns := "/v1/sessions/" + session + "/turns"

	found := env.Do(t, "POST", turns, `{"text":"Find Ann."}`).Must(t, 200)
	if found.Text("tool_calls", 0, "slug") != "find" || found.Text("tool_calls", 1, "error", "code") != "unknown-tool" ||
		!cmp.Equal(found.At("tool_calls", 0, "assigned_variables"), any([]any{"customer", "vip"})) {
		t.Errorf("first turn: %s", found.Body)
	}
	kept := env.Do(t, "GET", "/v1/sessions/"+session, nil).Must(t, 200)
	if diff := cmp.Diff(any(map[string]any{"customer": "C-9", "vip": "true"}), kept.At("assigned_variables")); diff != "" {
		t.Errorf("assigned variables (-want +got):\n%s", diff)
	}
	env.Do(t, "POST", turns, `{"text":"Order."}`).Must(t, 200)
	if len(shop.Requests("/C-9/order")) != 1 {
		t.Errorf("requests: %+v", shop.Requests(""))
	}
	if system := llm.Requests()[2].System; !strings.Contains(system, "The customer is C-9.") {
		t.Errorf("the next turn's instructions: %q", system)
	}

	last := env.Do(t, "POST", turns, `{"text":"Again and again."}`).Must(t, 200)
	if calls := last.List("tool_calls"); len(calls) != 9 || last.Text("tool_calls", 8, "error", "code") != "rounds-exhausted" {
		t.Errorf("calls after eight rounds: %s", last.Body)
	}
	if asked := llm.Requests(); len(asked[len(asked)-1].Tools) != 0 {
		t.Error("tools were offered after eight rounds")
	}
	transcript := env.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200)
	if transcript.At("turns", 2, "metrics", "tool_rounds") != 8.0 || transcript.At("turns", 2, "metrics", "tool_rounds_exhausted") != true {
		t.Errorf("metrics: %v", transcript.At("turns", 2, "metrics"))
	}

	config := env.Do(t, "PATCH", agentPath+"/tools-config", `{"disabled_tools":["search_memory"]}`).Must(t, 200)
	if config.At("client_tool_timeout_seconds") != 7.0 {
		t.Errorf("tools-config: %s", config.Body)
	}
	checkProblem(t, env.Do(t, "PATCH", agentPath, `{"tools_config":{"client_tool_timeout_seconds":121}}`), 400, "invalid-request")
}
