package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/openai"
	"parlance.dev/parlance/test/fake/openaichat"
)

// asked is what a server gets for a request.
func asked(t *testing.T, req model.Request) (body map[string]any) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusBadRequest) // what was asked is all that matters here
	}))
	defer server.Close()
	_, _ = provider(t, openai.Config{BaseURL: server.URL + "/v1"}).Stream(t.Context(), req, func(model.Event) error { return nil })
	return body
}

// TestMessages looks at what the server is told was said: every text as it is.
func TestMessages(t *testing.T) {
	t.Parallel()
	const odd = "\"quoted\" \\ <b>&\n\t\x00\x1f é漢\U0001f600\u2028"
	call := model.NewToolCall("call_"+odd, "look", `{"at":"<\"here\">"}`)
	got := asked(t, model.Request{
		System: odd, MaxOutputTokens: 7,
		Messages: []model.Message{
			{Role: model.RoleUser, Text: ""},
			{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{call}},
			{Role: model.RoleTool, Text: odd + "\xff", ToolCallID: call.ID},
			{Role: model.RoleAssistant, Text: odd, ToolCalls: []model.ToolCall{call}},
		},
	})
	type object = map[string]any
	calls := []any{object{"id": call.ID, "type": "function", "function": object{"name": "look", "arguments": string(call.Arguments)}}}
	want := object{
		"model": openaichat.Model, "stream": true, "stream_options": object{"include_usage": true}, "max_tokens": 7.0,
		"messages": []any{
			object{"role": "system", "content": odd},
			object{"role": "user", "content": ""},
			object{"role": "assistant", "tool_calls": calls},
			object{"role": "tool", "content": odd + "\ufffd", "tool_call_id": call.ID},
			object{"role": "assistant", "content": odd, "tool_calls": calls},
		},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// TestToolChoice looks at what the server is told of the choice.
func TestToolChoice(t *testing.T) {
	t.Parallel()
	rows := []struct {
		choice model.ToolChoice
		tools  []model.Tool
		want   any
	}{
		{model.ChooseAuto, []model.Tool{{Name: "look"}}, nil},
		{model.ChooseRequired, []model.Tool{{Name: "look"}}, "required"},
		{"look", []model.Tool{{Name: "look"}}, map[string]any{"type": "function", "function": map[string]any{"name": "look"}}},
		{model.ChooseRequired, nil, nil},
	}
	for _, row := range rows {
		got := asked(t, model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}, Tools: row.tools, ToolChoice: row.choice})["tool_choice"]
		if diff := gocmp.Diff(row.want, got); diff != "" {
			t.Errorf("%q of %d tools (-want +got):\n%s", row.choice, len(row.tools), diff)
		}
	}
}
