package openai_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/provider/model/openai"
	"parlance.dev/parlance/test/fake/openaichat"
)

// at is a provider of a server.
func at(t *testing.T) func(url string) model.Provider {
	return func(url string) model.Provider { return provider(t, openai.Config{BaseURL: url + "/v1"}) }
}

// TestMessages looks at what the server is told was said: every text as it is.
func TestMessages(t *testing.T) {
	t.Parallel()
	const odd = "\"quoted\" \\ <b>&\n\t\x00\x1f é漢\U0001f600\u2028"
	call := model.NewToolCall("call_"+odd, "look", `{"at":"<\"here\">"}`)
	got := modeltest.Asked(t, at(t), model.Request{
		System: odd, MaxOutputTokens: 7,
		Messages: []model.Message{
			{Role: model.RoleUser, Text: ""},
			{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{call}},
			{Role: model.RoleTool, Text: odd + "\xff", ToolCallID: call.ID},
			{Role: model.RoleAssistant, Text: odd, ToolCalls: []model.ToolCall{call}},
		},
	})
	type object = map[string]any
	id := model.WireID(call.ID) // the server may be a gateway to a vendor that is particular about ids
	calls := []any{object{"id": id, "type": "function", "function": object{"name": "look", "arguments": string(call.Arguments)}}}
	want := object{
		"model": openaichat.Model, "stream": true, "stream_options": object{"include_usage": true}, "max_tokens": 7.0,
		"messages": []any{
			object{"role": "system", "content": odd},
			object{"role": "user", "content": ""},
			object{"role": "assistant", "tool_calls": calls},
			object{"role": "tool", "content": odd + "\ufffd", "tool_call_id": id},
			object{"role": "assistant", "content": odd, "tool_calls": calls},
		},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestToolChoice(t *testing.T) {
	t.Parallel()
	modeltest.ToolChoice(t, at(t), "required", map[string]any{"type": "function", "function": map[string]any{"name": "look"}})
}

// TestTools looks at what the server is told of tools: none, one and two, with and without a
// description and a schema.
func TestTools(t *testing.T) {
	t.Parallel()
	tools := []model.Tool{
		{
			Name: "look", Description: "\"Looks\" \\ <b>&\n\u2028",
			InputSchema: []byte(`{"type": "object", "properties": {"<at>": {"type": "string"}}}`),
		},
		{Name: "wait"},
	}
	want := []any{
		map[string]any{"type": "function", "function": map[string]any{
			"name": "look", "description": tools[0].Description,
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"<at>": map[string]any{"type": "string"}}},
		}},
		map[string]any{"type": "function", "function": map[string]any{
			"name": "wait", "parameters": map[string]any{"type": "object", "properties": map[string]any{}},
		}},
	}
	for count := range len(tools) + 1 {
		got := modeltest.Asked(t, at(t), model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}, Tools: tools[:count]})
		if listed, _ := got["tools"].([]any); !gocmp.Equal(listed, want[:count:count], cmpopts.EquateEmpty()) {
			t.Errorf("%d tools: %v", count, got["tools"])
		}
		if got["model"] == nil || got["stream"] != true {
			t.Errorf("%d tools: behind them %v", count, got)
		}
	}
}
