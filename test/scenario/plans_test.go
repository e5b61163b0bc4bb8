package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/mcpserver"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/workspaces"
)

// TestPlansInTheDatabase: a plan that the operator stores applies to running servers within
// seconds, and the refusals name the plan that has more.
func TestPlansInTheDatabase(t *testing.T) {
	t.Parallel()
	llm := openaichat.New(t)
	llm.Else = func(modeltest.Received) modeltest.Reply { return modeltest.Reply{Text: []string{"All is well."}} }
	env := harness.Start(t, harness.Options{Plan: "pro", Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	db, err := postgres.Open(t.Context(), postgres.Config{URL: env.DatabaseURL, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	operator := workspaces.New(workspaces.Deps{DB: db}) // as in the process of parlance plans
	set := func(members string) {
		t.Helper()
		definition := `{"kb_storage_bytes":1000,"kb_upload_bytes":100,"tools":true` + members + `}`
		if _, err := operator.PutPlan(t.Context(), "pro", []byte(definition)); err != nil {
			t.Fatal(err)
		}
	}
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","memory":{}}`).Must(t, 201).Text("id")
	session := func() harness.Response {
		return env.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": agent, "user_id": "u", "modality": "text"})
	}
	open := session().Must(t, 201).Text("id")
	made := 1.0
	set(`,"concurrent_sessions":1`)
	refused := func(what, code, more string, try func() harness.Response) {
		t.Helper()
		var got harness.Response
		harness.Await(t, harness.Patience, what, func() bool { got = try(); return got.Code() == code })
		if got.Text("plan") != "pro" || got.Text("plan_with_more") != more {
			t.Errorf("%s: %s", what, got.Body)
		}
	}
	refused("one session too many", "quota-exceeded-sessions", "free", func() harness.Response {
		got := session()
		if got.Status == 201 {
			made++
		}
		return got
	})
	refused("MCP", "plan-mcp-not-enabled", "enterprise", func() harness.Response {
		return env.Do(t, "POST", env.Tenant.In("/tools"),
			`{"slug":"x","description":"d","kind":"mcp","mcp_server_url":"https://x.example/"}`)
	})
	refused("much text", "quota-exceeded-kb-storage", "free", func() harness.Response {
		return env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"),
			map[string]any{"name": "n", "content": strings.Repeat("word ", 400)})
	})
	env.Do(t, "POST", "/v1/sessions/"+open+"/turns", `{"text":"How are you?"}`).Must(t, 200)
	// None of the sessions that were open before is ended.
	month := env.Do(t, "GET", "/v1/usage", nil, harness.Key(env.Tenant.Admin)).Must(t, 200)
	if month.Text("limits", 0, "name") != "concurrent_sessions" || month.At("limits", 0, "limit") != 1.0 ||
		month.At("limits", 0, "used") != made || month.Text("limits", 0, "plan_with_more") != "free" {
		t.Errorf("the limits: %s", month.Body)
	}
	set(`,"models":["openai/other"]`)
	refused("a model", "plan-model-not-enabled", "free", func() harness.Response {
		return env.Do(t, "POST", "/v1/sessions/"+open+"/turns", `{"text":"How are you?"}`)
	})
	env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Bob","model":{"provider":"openai","name":"third"}}`).Must(t, 403)
	env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Bob","model":{"provider":"openai","name":"other"}}`).Must(t, 201)
	if err := operator.DeletePlan(t.Context(), "pro"); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, harness.Patience, "the configured plan applies again", func() bool { return session().Status == 201 })
	harness.Await(t, harness.Patience, "the model answers again", func() bool {
		return env.Do(t, "POST", "/v1/sessions/"+open+"/turns", `{"text":"How are you?"}`).Status == 200
	})
}

// TestToolLeftOutAfterDowngrade: the receipt names a tool that the plan does not include any more,
// and a model that repeats a call of its server is told why the call is not made.
func TestToolLeftOutAfterDowngrade(t *testing.T) {
	t.Parallel()
	remote := mcpserver.New(t)
	remote.Tool("find", "Finds.", `{"type":"object"}`, mcpserver.Text("Found."))
	remote.Tool("other", "Does something else.", `{"type":"object"}`, mcpserver.Text("Done."))
	find := openaichat.Call{ID: "1", Name: "crm__find", Arguments: []string{`{}`}}
	again := openaichat.Call{ID: "2", Name: "crm__find", Arguments: []string{`{}`}}
	llm := openaichat.New(t,
		openaichat.Reply{Calls: []openaichat.Call{find}}, openaichat.Reply{Text: []string{"It is there."}},
		openaichat.Reply{Calls: []openaichat.Call{again}}, openaichat.Reply{Text: []string{"I cannot look."}})
	env := harness.Start(t, harness.Options{Plan: "pro", WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	tool := env.Do(t, "POST", env.Tenant.In("/tools"),
		`{"slug":"crm","description":"Customers.","kind":"mcp","mcp_server_url":"`+remote.URL+`"}`).Must(t, 201).Text("id")
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	env.Do(t, "POST", env.Tenant.In("/agents/"+agent+"/tools/attach"), `{"tool_id":"`+tool+`","enabled":true}`).Must(t, 200)
	k := &talker{Env: env, agent: agent, user: "u"}
	k.begin(t)
	if receipt := k.expects(t, "Find it.", "It is there."); receipt.At("tools_left_out") != nil ||
		receipt.Text("tool_calls", 0, "status") != "succeeded" {
		t.Errorf("with the plan pro: %s", receipt.Body)
	}
	if _, err := env.App.Workspaces.SetPlan(t.Context(), workspaces.TenantID(env.Tenant.ID), "free"); err != nil {
		t.Fatal(err)
	}
	receipt := k.expects(t, "Find it again.", "I cannot look.")
	want := []any{map[string]any{"tool_id": tool, "slug": "crm", "reason": "plan"}}
	if diff := cmp.Diff(want, receipt.List("tools_left_out", "tools")); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if receipt.Text("tool_calls", 0, "error_code") != "plan-mcp-not-enabled" || receipt.Text("tool_calls", 0, "tool_id") != tool {
		t.Errorf("the call in the receipt: %s", receipt.Body)
	}
	traced := env.Do(t, "GET", "/v1/sessions/"+k.session+"/tool-calls", nil).Must(t, 200)
	if traced.Text("tool_calls", 1, "slug") != "crm__find" || traced.Text("tool_calls", 1, "error", "code") != "plan-mcp-not-enabled" ||
		!strings.Contains(traced.Text("tool_calls", 1, "error", "message"), "the plan does not include it") {
		t.Errorf("the traces: %s", traced.Body)
	}
}
