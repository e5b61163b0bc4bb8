package exports_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
		"X-Version": "2", "X-Channel": "phone", "X-Customer": "{{customer_id}}",
	}); diff != "" {
		t.Error(diff)
	}
	secret := slices.Sorted(maps.Keys(want.GetSecretHeaders()))
	if diff := cmp.Diff(secret, []string{"Cookie", "X-Access-Token", "X-Api-Key", "X-Signature"}); diff != "" {
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
