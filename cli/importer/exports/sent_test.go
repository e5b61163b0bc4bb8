package exports_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/cli/importer/exports"
)

// has says whether one of the texts contains a part.
func has(texts []string, part string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
}

// Whole words of a header's name say whether it holds a secret. A variable is none of the export's.
func TestSecretHeaders(t *testing.T) {
	t.Parallel()
	ordinary := []string{
		"X-Monkey", "X-Turkey", "X-Secretary", "X-Tokenizer", "X-Cookies-Accepted", "X-Key-Id", "X-Keyword", "X-Author", "X-Shipping",
	}
	secret := []string{
		"X-Api-Key", "Apikey", "X-Token", "X-Accesstoken", "X-Vapi-Secret", "X-Passcode", "X-Pin", "X-Hmac", "X_Auth_Token", "Cookie",
		"X-Hub-Signature", "X-Client-Secret", "X-Password",
	}
	var members []string
	for _, name := range slices.Concat(ordinary, secret) {
		members = append(members, fmt.Sprintf(`%q: "NEVER-SHOWN"`, name))
	}
	plan := read(t, exports.Retell, retellEngine(`"general_tools": [{"type": "custom", "name": "order", "url": "https://example.com",
		"args_at_root": true,
		"headers": {"X-Customer-Key": "{{customer}}", "X-Session-Key": "{{secret__key}}", `+strings.Join(members, ", ")+`}}]`))
	want := plan.Tools[0].Want
	for _, name := range append(ordinary, "X-Customer-Key", "X-Session-Key") {
		if want.GetHeaders()[name] == "" {
			t.Errorf("%s became a secret", name)
		}
	}
	if len(want.GetSecretHeaders()) != len(secret) {
		t.Errorf("secrets are %v, want %v", want.GetSecretHeaders(), secret)
	}
	if notes := plan.Tools[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], "sends the header X-Customer-Key, which is a variable") {
		t.Errorf("notes %q", notes)
	}
}

// A part of a tool that cannot be used is left out and named, and the tool is made without it.
func TestUnusableParts(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Retell, retellEngine(`"general_tools": [{"type": "custom", "name": "order", "url": "https://example.com/x#frag",
		"args_at_root": true, "headers": {"Proxy-Authorization": "NEVER-SHOWN", "X-A": "1"},
		"response_variables": {"all": "$..x", "first": "$.order.items[0].id", "system__x": "a", "list": "$[0].id"}}]`))
	tool := plan.Tools[0]
	if tool.Want.GetWebhookUrl() != "https://example.com/x" || len(tool.Want.GetAssignments()) != 2 || len(tool.Want.GetHeaders()) != 1 {
		t.Errorf("made %v", tool.Want)
	}
	for _, want := range []string{
		`does not keep "all" of its answer`, `does not keep "system__x" of its answer`, "without the header Proxy-Authorization", "behind #",
	} {
		if !has(tool.Notes, want) {
			t.Errorf("notes lack %q: %q", want, tool.Notes)
		}
	}
	if len(tool.Notes) != 4 || strings.Contains(fmt.Sprint(tool.Notes, plan.Rows), "NEVER-SHOWN") {
		t.Errorf("notes %q", tool.Notes)
	}
}

// A constant of a path is one segment of it.
func TestConstantsOfPaths(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"a?b": "a%3Fb", "con/st": "con%2Fst", "x/../y": "x%2F..%2Fy", "a#b": "a%23b", "50%": "50%25", "plain": "plain", "{{v}}": "{{v}}",
	} {
		eleven := read(t, exports.ElevenLabs, elevenTool(fmt.Sprintf(`{"url": "https://example.com/{c}/end", "method": "GET",
			"path_params_schema": {"c": {"type": "string", "constant_value": %q}}}`, value)))
		vapi := read(t, exports.Vapi, vapiTool(fmt.Sprintf(`{"type": "apiRequest", "name": "order", "url": "https://example.com/{{c}}/end",
			"method": "POST", "body": {"type": "object", "properties": {"c": {"type": "string", "value": %q}}}}`, value)))
		for name, plan := range map[string]*exports.Plan{"elevenlabs": eleven, "vapi": vapi} {
			if got := plan.Tools[0].Want.GetWebhookUrl(); got != "https://example.com/"+want+"/end" {
				t.Errorf("%s: %q became %s", name, value, got)
			}
		}
	}
}

// A parameter of the URL is not in the body any more, which is left to do.
func TestNoMoreInTheBody(t *testing.T) {
	t.Parallel()
	const request = `{"type": "apiRequest", "name": "order", "method": %q, "url": "https://example.com/{{id}}?q={{q}}",
		"body": {"type": "object", "properties": {"id": {"type": "string"}, "q": {"type": "string"}, "n": {"type": "string"}}}}`
	for method, want := range map[string]bool{"POST": true, "GET": false} {
		plan := read(t, exports.Vapi, vapiTool(fmt.Sprintf(request, method)))
		if got := has(plan.Tools[0].Notes, `does not send "id", "q" in its body any more`); got != want {
			t.Errorf("%s: notes %q", method, plan.Tools[0].Notes)
		}
	}
	plan := read(t, exports.ElevenLabs, elevenTool(`{"url": "https://example.com", "method": "POST",
		"query_params_schema": {"properties": {"id": {"type": "string"}}}, "request_body_schema": {"type": "object", "required": ["id"],
		"properties": {"id": {"type": "string"}, "n": {"type": "string"}}}}`))
	if notes := plan.Tools[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], `does not send "id" in its body any more`) {
		t.Errorf("notes %q", notes)
	}
}

// A variable that was a list or an object is sent as a text, which is left to do.
func TestListVariables(t *testing.T) {
	t.Parallel()
	eleven := read(t, exports.ElevenLabs, elevenTool(`{"url": "https://example.com", "method": "POST",
		"query_params_schema": {"properties": {"q": {"type": "array", "dynamic_variable": "q"}}},
		"request_body_schema": {"type": "object", "properties": {"u": {"type": "array", "dynamic_variable": "u"},
		"o": {"type": "object", "properties": {"in": {"type": "object", "dynamic_variable": "in"}}}}}}`))
	retell := read(t, exports.Retell, retellEngine(`"general_tools": [{"type": "custom", "name": "order", "url": "https://example.com",
		"args_at_root": true, "parameters": {"type": "object", "properties": {"u": {"type": "array", "const": "{{u}}"},
		"o": {"type": "object", "properties": {"in": {"type": ["object", "null"], "const": "{{in}}"}}}}}}]`))
	want := []string{`sends "u" as a text and no more as array`, `sends "o.in" as a text and no more as object`}
	for _, plan := range []*exports.Plan{eleven, retell} {
		for _, part := range want {
			if !has(plan.Tools[0].Notes, part) {
				t.Errorf("notes lack %q: %q", part, plan.Tools[0].Notes)
			}
		}
	}
	if !has(eleven.Tools[0].Notes, `sends "q" as a text and no more as array`) {
		t.Errorf("notes %q", eleven.Tools[0].Notes)
	}
}

// A function without an address of its own is called as the assistant's server is: with its
// headers, secret, time-out and credential. Each address is a tool of its own.
func TestVapiServer(t *testing.T) {
	t.Parallel()
	const function = `{"type": "function", "id": "go", "function": {"name": "go", "description": "d"}}`
	named := func(name, server string) string {
		return `{"id": "` + name + `", "name": "` + name + `", "firstMessage": "Hi", "model": {"toolIds": ["go"]}, ` + server + `}`
	}
	plan := read(t, exports.Vapi, `[`+named("F", `"server": {"url": "https://example.com/f", "timeoutSeconds": 7, "credentialId": "c",
		"secret": "NEVER-SHOWN", "headers": {"X-Srv": "sv", "X-Api-Key": "NEVER-SHOWN"}}`)+`, `+
		named("G", `"serverUrl": "https://example.com/g", "serverUrlSecret": "NEVER-SHOWN"`)+`, `+named("H", `"server": null`)+`]`, function)
	if len(plan.Tools) != 2 {
		t.Fatalf("tools %v", plan.Tools)
	}
	tool := plan.Tools[0]
	secrets := map[string]string{"X-Vapi-Secret": "NEVER-SHOWN", "X-Api-Key": "NEVER-SHOWN"}
	if diff := cmp.Diff(tool.Want.GetSecretHeaders(), secrets); diff != "" {
		t.Error(diff)
	}
	if tool.Want.GetTimeoutSeconds() != 7 || tool.Want.GetHeaders()["X-Srv"] != "sv" || !slices.Contains(tool.Secrets, "Authorization") {
		t.Errorf("made %v, secrets %v", tool.Want, tool.Secrets)
	}
	for path, to := range map[string]string{
		"[0].server.headers.X-Srv": "tool.headers", "[0].server.headers.X-Api-Key": "tool.secret_headers",
		"[0].server.secret": "tool.secret_headers", "[0].server.timeoutSeconds": "tool.timeout_seconds",
		"[1].serverUrl": "tool.webhook_url", "[1].serverUrlSecret": "tool.secret_headers",
	} {
		if got := row(plan, path); got.To != to {
			t.Errorf("%s: %+v", path, got)
		}
	}
	var uses []string
	for _, agent := range plan.Agents {
		for _, tool := range agent.Tools {
			uses = append(uses, agent.Want.GetName()+" "+tool.Want.GetSlug()+" "+tool.Want.GetWebhookUrl())
		}
	}
	if diff := cmp.Diff(uses, []string{"F go https://example.com/f", "G go_2 https://example.com/g"}); diff != "" {
		t.Error(diff)
	}
	if client := plan.Agents[2].Want.GetToolsConfig().GetClientTools(); len(client) != 1 || client[0].GetName() != "go" {
		t.Errorf("without a server a client runs %v", client)
	}
}

// What members of a tool in a file of its own mean is said once, and not as unknown.
func TestVapiToolFile(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Vapi, `{"name": "A", "firstMessage": "Hi", "model": {"toolIds": ["t"]}}`,
		`{"type": "function", "id": "t", "orgId": "o", "async": false, "messages": [{"type": "request-start"}],
		"function": {"name": "fire", "description": "d"}, "server": {"url": "https://example.com"}, "rejectionPlan": {"conditions": [{"a": 1}]}}`)
	if got := row(plan, "async"); got.Kind != exports.Empty {
		t.Errorf("async: %+v", got)
	}
	if got := row(plan, "messages"); got.Kind != exports.Lost || strings.Contains(got.Why, "does not know") {
		t.Errorf("messages: %+v", got)
	}
	if !has(plan.Tools[0].Notes, "without its rejectionPlan") || plan.Tools[0].Want.GetRequiresUserIntent() {
		t.Errorf("notes %q", plan.Tools[0].Notes)
	}
}

// The parameters of an MCP server's query are left to do.
func TestRetellServerQuery(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Retell, retellEngine(`"mcps": [{"name": "docs", "url": "https://example.com/mcp", "query_params": {"k": "v"}},
		{"name": "more", "url": "https://example.com/more", "query_params": {}}]`))
	if notes := plan.Tools[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], `without the parameters "k" in the query`) {
		t.Errorf("notes %q", notes)
	}
	if len(plan.Tools[1].Notes) != 0 {
		t.Errorf("notes %q", plan.Tools[1].Notes)
	}
}
