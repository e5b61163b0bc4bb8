package exports_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/cli/importer/exports"
)

// read reads exports that are written in the test, and checks that every member has a row.
func read(t *testing.T, provider exports.Provider, texts ...string) *exports.Plan {
	t.Helper()
	var given []exports.File
	for i, text := range texts {
		given = append(given, exports.File{Name: fmt.Sprintf("%d.json", i), Data: []byte(text)})
	}
	plan, err := exports.Read(provider, given)
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, plan, given)
	checkFields(t, plan)
	return plan
}

// elevenTool is an agent with one tool that has this API schema.
func elevenTool(api string) string {
	return `{"name": "A", "conversation_config": {"agent": {"prompt": {"prompt": "p", "tools": [
		{"type": "webhook", "name": "order", "description": "d", "api_schema": ` + api + `}]}}}}`
}

// vapiTool is an assistant with one tool.
func vapiTool(tool string) string {
	return `{"name": "A", "firstMessage": "Hi", "model": {"provider": "openai", "model": "gpt-4.1", "tools": [` + tool + `]}}`
}

// retellEngine is a response engine with these members.
func retellEngine(members string) string {
	return `{"llm_id": "llm_1", "general_prompt": "p", ` + members + `}`
}

// row finds the row of a path; it is empty when there is none.
func row(plan *exports.Plan, path string) exports.Row {
	for _, one := range plan.Rows {
		if one.Path == path {
			return one
		}
	}
	return exports.Row{}
}

func wantJSON(t *testing.T, got, want string) {
	t.Helper()
	var one, other any
	if got != "" {
		if err := json.Unmarshal([]byte(got), &one); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal([]byte(want), &other); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, other); diff != "" {
		t.Error(diff)
	}
}

// Only headers that are named like credentials become secrets: the values of secrets are cut out
// of the answers of tools.
func TestHeaders(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.ElevenLabs, elevenTool(`{"url": "https://example.com", "request_headers": {
		"X-Version": "2", "x-channel": "phone", "X-Customer": {"variable_name": "customer_id"}, "Authorization": "Bearer a",
		"X-Api-Key": "k1", "X-Access-Token": {"variable_name": "token"}, "Cookie": "a=b", "X-Signature": "s"}}`))
	want := plan.Tools[0].Want
	if diff := cmp.Diff(want.GetHeaders(), map[string]string{
		"X-Version": "2", "X-Channel": "phone", "X-Customer": "{{customer_id}}", "X-Access-Token": "{{token}}",
	}); diff != "" {
		t.Error(diff)
	}
	secret := slices.Sorted(maps.Keys(want.GetSecretHeaders()))
	if diff := cmp.Diff(secret, []string{"Cookie", "X-Api-Key", "X-Signature"}); diff != "" {
		t.Error(diff)
	}
	if want.GetAuthHeader() != "Bearer a" || !want.GetAllowDynamicVars() {
		t.Errorf("made %v", want)
	}
	const at = "conversation_config.agent.prompt.tools[0].api_schema.request_headers"
	if to := row(plan, at+".X-Version").To; to != "tool.headers" {
		t.Errorf("X-Version became %q", to)
	}
	if to := row(plan, at+".X-Api-Key").To; to != "tool.secret_headers" {
		t.Errorf("X-Api-Key became %q", to)
	}
}

// What an export sets without the model is sent without it, also inside of objects.
func TestFixed(t *testing.T) {
	t.Parallel()
	const schema = `{"type": "object", "required": ["day", "who"], "properties": {
		"day": {"type": "string"}, "kind": {"type": "string", %[1]q: "visit"}, "count": {"type": "integer", %[1]q: 3},
		"only": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", %[1]q: "{{name}}"}}},
		"who": {"type": "object", "required": ["team", "email"],
			"properties": {"team": {"type": "string", %[1]q: "blue"}, "email": {"type": "string"}}},
		"rows": {"type": "array", "items": {"type": "object", "required": ["k"], "properties": {
			"k": {"type": "string", %[1]q: "{{name}}"}, "v": {"type": "string"},
			"s": {"type": "string", %[1]q: "agent"}}}}}}`
	eleven := strings.ReplaceAll(fmt.Sprintf(schema, "constant_value"), `"constant_value": "{{name}}"`, `"dynamic_variable": "name"`)
	for name, plan := range map[string]*exports.Plan{
		"elevenlabs": read(t, exports.ElevenLabs, elevenTool(`{"url": "https://example.com", "method": "POST",
			"request_body_schema": `+eleven+`}`)),
		"vapi": read(t, exports.Vapi, vapiTool(`{"type": "apiRequest", "name": "order", "url": "https://example.com", "method": "POST",
			"body": `+fmt.Sprintf(schema, "value")+`}`)),
		"vapi function": read(t, exports.Vapi, vapiTool(`{"type": "function", "server": {"url": "https://example.com"},
			"function": {"name": "order", "parameters": `+fmt.Sprintf(schema, "value")+`}}`)),
		"retell": read(t, exports.Retell, retellEngine(`"general_tools": [{"type": "custom", "name": "order", "url": "https://example.com",
			"args_at_root": true, "parameters": `+fmt.Sprintf(schema, "const")+`}]`)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := plan.Tools[0]
			wantJSON(t, tool.Want.GetHardcodedBodyParamsJson(),
				`{"kind": "visit", "count": 3, "only": {"a": "{{name}}"}, "who": {"team": "blue"}}`)
			wantJSON(t, tool.Want.GetInputSchemaJson(), `{"type": "object", "required": ["day", "who"], "properties": {
				"day": {"type": "string"},
				"who": {"type": "object", "required": ["email"], "properties": {"email": {"type": "string"}}},
				"rows": {"type": "array", "items": {"type": "object", "required": ["s"], "properties": {"v": {"type": "string"},
					"s": {"type": "string", "const": "agent"}}}}}}`)
			if !tool.Want.GetAllowDynamicVars() || !slices.Contains(plan.Agents[0].Variables, "name") {
				t.Errorf("variables are not replaced: %v", tool.Want)
			}
			if notes := strings.Join(tool.Notes, "\n"); !strings.Contains(notes, `does not send "k" any more`) {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// A fixed value of a request without a body is in its query.
func TestFixedQuery(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Retell, retellEngine(`"general_tools": [{"type": "custom", "name": "order", "url": "https://example.com",
		"method": "GET", "parameters": {"type": "object", "properties": {"n": {"type": "integer", "const": 5},
		"o": {"type": "object", "properties": {"k": {"type": "string", "const": "{{x}}"}, "v": {"type": "string"}}}}}}]`))
	tool := plan.Tools[0]
	if diff := cmp.Diff(tool.Want.GetHardcodedQueryParams(), map[string]string{"n": "5"}); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(tool.Notes, func(note string) bool { return strings.Contains(note, `does not send "o.k"`) }) {
		t.Errorf("notes %q", tool.Notes)
	}
	if strings.Contains(tool.Want.GetInputSchemaJson(), "const") {
		t.Errorf("the model chooses %s", tool.Want.GetInputSchemaJson())
	}
}

// A tool of a client cannot be given values: that is left to do, and the model does not see them.
func TestFixedOfClients(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.ElevenLabs, `{"name": "A", "conversation_config": {"agent": {"prompt": {"tools": [{"type": "client",
		"name": "show", "description": "d", "parameters": {"type": "object", "required": ["user"], "properties": {
		"user": {"type": "string", "dynamic_variable": "user"}, "place": {"type": "string"}}}}]}}}}`)
	agent := plan.Agents[0]
	wantJSON(t, agent.Want.GetToolsConfig().GetClientTools()[0].GetParametersJson(),
		`{"type": "object", "properties": {"place": {"type": "string"}}}`)
	if len(agent.Todos) != 1 || !strings.Contains(agent.Todos[0].What, `does not send "user" any more`) {
		t.Errorf("left to do: %v", agent.Todos)
	}
}

// A variable of another type than text is sent as a text, and that is said.
func TestTypedVariables(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.ElevenLabs, elevenTool(`{"url": "https://example.com", "method": "POST", "request_body_schema": {
		"type": "object", "properties": {"count": {"type": "integer", "dynamic_variable": "count"},
		"name": {"type": "string", "dynamic_variable": "name"}}}}`))
	const at = "conversation_config.agent.prompt.tools[0].api_schema.request_body_schema.properties"
	if got := row(plan, at+".count.dynamic_variable"); got.Kind != exports.Lost || !strings.Contains(got.Why, "as a text") {
		t.Errorf("count: %+v", got)
	}
	if got := row(plan, at+".name.dynamic_variable"); got.To != "tool.hardcoded_body_params" {
		t.Errorf("name: %+v", got)
	}
	if notes := plan.Tools[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], `sends "count" as a text and no more as integer`) {
		t.Errorf("notes %q", notes)
	}
}

// A parameter of Vapi's query may be left out, as before.
func TestVapiQuery(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Vapi, vapiTool(`{"type": "apiRequest", "name": "find", "method": "GET",
		"url": "https://example.com/{{id}}?q={{q}}&state={{ status }}&sort=by-{{order}}&k={{key}}&who={{customer.number}}&fix=1",
		"body": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "q": {"type": "string"},
		"status": {"type": "string"}, "order": {"type": "string"}, "key": {"type": "string", "value": "v"}}}}`))
	want := plan.Tools[0].Want
	if got := want.GetWebhookUrl(); got != "https://example.com/{id}?sort=by-{order}&k=v&who={{system__caller_id}}&fix=1" {
		t.Errorf("URL %s", got)
	}
	if diff := cmp.Diff(want.GetQueryParams(), []string{"q", "state"}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.GetPathParams(), []string{"id", "order"}); diff != "" {
		t.Error(diff)
	}
	wantJSON(t, want.GetInputSchemaJson(), `{"type": "object", "required": ["id"], "properties": {"id": {"type": "string"},
		"q": {"type": "string"}, "state": {"type": "string"}, "order": {"type": "string"}}}`)
}

// What could not keep its name is left to do, with both names.
func TestRenamed(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.ElevenLabs, `{"name": "A", "conversation_config": {"agent": {"prompt": {"tools": [
		{"type": "webhook", "name": "Über Tool", "description": "d", "api_schema": {"url": "https://example.com"}},
		{"type": "client", "name": "show map", "description": "d"}]}}},
		"platform_settings": {"data_collection": {"order id": {"type": "string", "description": "d"}},
		"evaluation": {"criteria": [{"id": "was kind", "conversation_goal_prompt": "p"}]}}}`)
	if notes := plan.Tools[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], `was named "Über Tool"`) {
		t.Errorf("notes %q", notes)
	}
	said := fmt.Sprint(plan.Agents[0].Todos)
	for _, want := range []string{
		`"show map" of the client is named show_map`, `"order id" of the analysis is named order_id`,
		`"was kind" of the analysis is named was_kind`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("left to do lacks %q: %s", want, said)
		}
	}
}

// What was redacted and is not any more is left to do.
func TestRedaction(t *testing.T) {
	t.Parallel()
	const eleven = `{"name": "A", "conversation_config": {}, "platform_settings": {"privacy": {"conversation_history_redaction":
		{"enabled": true, "entities": [%s]}}}}`
	for name, one := range map[string]struct {
		provider   exports.Provider
		text, want string
		redact     []string
	}{
		"none": {exports.ElevenLabs, fmt.Sprintf(eleven, `"name", "location"`), "Nothing of what is said is redacted: the export redacts " +
			"name, location", nil},
		"empty": {exports.ElevenLabs, fmt.Sprintf(eleven, ``), "Nothing of what is said is redacted", nil},
		"some": {
			exports.ElevenLabs, fmt.Sprintf(eleven, `"name", "email_address"`), "Only email is redacted, and no more name",
			[]string{"email"},
		},
		"all": {exports.ElevenLabs, fmt.Sprintf(eleven, `"email_address"`), "", []string{"email"}},
		"retell": {
			exports.Retell, `{"agent_name": "A", "response_engine": {"type": "custom-llm"}, "pii_config": {"categories": ["ssn"]}}`,
			"Nothing of what is said is redacted: the export redacts ssn", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := read(t, one.provider, one.text)
			if diff := cmp.Diff(plan.Agents[0].Want.GetPrivacy().GetRedact(), one.redact); diff != "" {
				t.Error(diff)
			}
			said := fmt.Sprint(plan.Agents[0].Todos)
			if one.want == "" && strings.Contains(said, "redacted") || !strings.Contains(said, one.want) {
				t.Errorf("left to do: %s", said)
			}
			at := row(plan, "platform_settings.privacy.conversation_history_redaction.enabled")
			if one.redact == nil && at.Kind == exports.Mapped {
				t.Errorf("redaction is claimed: %+v", at)
			}
		})
	}
}

// What only telephone calls have is left to do: tools that use it fail in other sessions.
func TestCallVariables(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Vapi, `{"name": "A", "firstMessage": "Hi {{customer.number}}", "model": {"messages": [
		{"role": "system", "content": "Help."}], "tools": [
		{"type": "apiRequest", "name": "who", "url": "https://example.com/{{ customer.number }}"},
		{"type": "apiRequest", "name": "line", "url": "https://example.com", "headers": {"type": "object", "properties": {
			"X-Line": {"type": "string", "value": "{{phoneNumber.number}}"}}}},
		{"type": "apiRequest", "name": "plain", "url": "https://example.com/{{name}}"}]}}`)
	said := fmt.Sprint(plan.Agents[0].CallTodos())
	for _, want := range []string{
		"Only telephone calls have {{system__caller_id}}", "these tools fail: who.", "these tools fail: line.",
		"The first message: only telephone calls have {{system__caller_id}}",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("left to do lacks %q: %s", want, said)
		}
	}
	if strings.Contains(said, "plain") || strings.Contains(said, "instructions") {
		t.Errorf("left to do: %s", said)
	}
}

// Names of pages hold no query, and what looks like a secret in one is left to do.
func TestSecretsInQueries(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Retell, retellEngine(`"knowledge_base_ids": ["kb"], "general_tools": [{"type": "custom", "name": "find",
		"url": "https://example.com/x?page=1&api_key=NEVER-SHOWN&keyword=a", "query_params": {"token": "NEVER-SHOWN", "key": "{{key}}",
		"limit": "5"}, "args_at_root": true}]`), `{"knowledge_base_id": "kb", "knowledge_base_sources": [
		{"type": "url", "url": "https://example.com/page?sig=NEVER-SHOWN"},
		{"type": "url", "title": "https://example.com/two?a=NEVER-SHOWN", "url": "https://example.com/two?a=NEVER-SHOWN"}]}`)
	if notes := plan.Tools[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], `sends "api_key", "token" in the query`) {
		t.Errorf("notes %q", notes)
	}
	names := []string{plan.Sources[0].Name, plan.Sources[1].Name}
	if diff := cmp.Diff(names, []string{"https://example.com/page", "https://example.com/two"}); diff != "" {
		t.Error(diff)
	}
	if said := fmt.Sprint(plan.Todos); !strings.Contains(said, `Look at the source https://example.com/page: its address has "sig"`) {
		t.Errorf("left to do: %s", said)
	}
	if plan.Sources[0].URL != "https://example.com/page?sig=NEVER-SHOWN" {
		t.Errorf("the address is %s", plan.Sources[0].URL)
	}
	if said := fmt.Sprint(plan.Todos, plan.Tools[0].Notes, plan.Rows, names); strings.Contains(said, "NEVER-SHOWN") {
		t.Errorf("a secret is shown: %s", said)
	}
}

// A conversation flow gives the agent its prompt, model, tools and knowledge; its steps are left.
func TestRetellFlow(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Retell, `{"agent_name": "Flow", "response_engine": {"type": "conversation-flow", "conversation_flow_id": "cf"}}`,
		`{"conversation_flow_id": "cf", "global_prompt": "Be kind to {{name}}.", "model_choice": {"type": "cascading", "model": "gpt-4.1"},
		"model_temperature": 0.1, "start_speaker": "agent", "start_node_id": "n1", "kb_config": {"top_k": 3}, "knowledge_base_ids": ["kb"],
		"default_dynamic_variables": {"place": "here"}, "mcps": [{"name": "crm", "url": "https://example.com/mcp"}],
		"tools": [{"type": "custom", "name": "find", "url": "https://example.com", "args_at_root": true}],
		"components": [{"name": "c", "tools": [{"type": "custom", "name": "more", "url": "https://example.com", "args_at_root": true}],
			"nodes": [{"id": "m", "type": "sms"}]}],
		"nodes": [{"id": "n1", "type": "conversation", "instruction": {"type": "static_text", "text": "Hello {{name}}"}, "edges": [{"id": "e"}]},
			{"id": "n2", "type": "function", "tool_id": "x"}, {"id": "n3", "type": "conversation"}, {"id": "n4", "type": "other"}]}`,
		`{"knowledge_base_id": "kb", "knowledge_base_sources": [{"type": "url", "url": "https://example.com/page"}]}`)
	if len(plan.Agents) != 1 {
		t.Fatalf("%d agents", len(plan.Agents))
	}
	agent := plan.Agents[0]
	if agent.Want.GetInstructions() != "Be kind to {{name}}." || agent.Want.GetFirstMessage() != "Hello {{name}}" ||
		agent.Want.GetModel().GetName() != "gpt-4.1" || agent.Want.GetModel().GetTemperature() != 0.1 ||
		agent.Want.GetRetrieval().GetTopK() != 3 {
		t.Errorf("made %v", agent.Want)
	}
	if len(agent.Tools) != 3 || len(agent.Sources) != 1 {
		t.Errorf("uses %v and %v", agent.Tools, agent.Sources)
	}
	if diff := cmp.Diff(agent.Variables, []string{"name", "place"}); diff != "" {
		t.Error(diff)
	}
	if got := row(plan, "nodes[1]"); got.Kind != exports.Lost || !strings.Contains(got.Why, "Steps that call a tool") {
		t.Errorf("a step: %+v", got)
	}
	if said := fmt.Sprint(agent.Todos); !strings.Contains(said, "what its conversation flow did in steps") {
		t.Errorf("left to do: %s", said)
	}
	missing := read(t, exports.Retell, `{"agent_name": "F", "response_engine": {"type": "conversation-flow", "conversation_flow_id": "cf"}}`)
	if said := fmt.Sprint(missing.Agents[0].Todos); !strings.Contains(said, "get-conversation-flow/cf") {
		t.Errorf("left to do: %s", said)
	}
}

// A name without what the service refuses in it.
func TestAgentName(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.ElevenLabs, `{"name": "A\u0000\u001b[31mB", "conversation_config": {}}`)
	if got := plan.Agents[0].Want.GetName(); got != "A[31mB" {
		t.Errorf("named %q", got)
	}
	if said := fmt.Sprint(plan.Agents[0].Todos); !strings.Contains(said, `The agent is named "A[31mB"`) {
		t.Errorf("left to do: %s", said)
	}
}
