package anthropicmessages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/modeltest"
)

// wire is a request as Anthropic's API reference describes it, as far as it is checked here.
type wire struct {
	Model     string        `json:"model"`
	MaxTokens int           `json:"max_tokens"`
	Stream    bool          `json:"stream"`
	System    string        `json:"system"`
	Messages  []wireMessage `json:"messages"`
	Tools     []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
}

type wireMessage struct {
	Role    string      `json:"role"`
	Content []wireBlock `json:"content"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   string          `json:"content"`
}

// read checks a request and returns what is wrong with it, in Anthropic's sense.
func read(header http.Header, body []byte) (modeltest.Received, string) {
	out := modeltest.Received{Header: header, Body: body}
	var in wire
	if err := json.Unmarshal(body, &in); err != nil {
		return out, err.Error()
	}
	if header.Get("Anthropic-Version") != "2023-06-01" {
		return out, "anthropic-version: header is required"
	}
	if in.Model == "" || in.MaxTokens < 1 || len(in.Messages) == 0 || !in.Stream {
		return out, "This fake needs model, max_tokens, messages and stream: true."
	}
	out.Model, out.System = in.Model, in.System
	for i := range in.Messages {
		if problem := readMessage(&out, in.Messages, i); problem != "" {
			return out, fmt.Sprintf("messages.%d: %s", i, problem)
		}
	}
	for i, t := range in.Tools {
		if !modeltest.NameFits.MatchString(t.Name) || modeltest.AtTop(t.InputSchema) != "" {
			return out, fmt.Sprintf("tools.%d.custom: the name is none, or input_schema does not support oneOf, allOf, or anyOf at the top level", i)
		}
		if t.Name == "" || len(t.InputSchema) == 0 {
			return out, "tools: name and input_schema are required"
		}
		out.Tools = append(out.Tools, model.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	if len(in.Tools) == 0 && slices.ContainsFunc(out.Messages, func(m model.Message) bool { return len(m.ToolCalls) > 0 }) {
		return out, "Requests which include `tool_use` or `tool_result` blocks must define tools"
	}
	if in.ToolChoice.Type == "none" {
		out.Tools = nil // what may be called
	}
	return out, ""
}

func readMessage(out *modeltest.Received, all []wireMessage, at int) string {
	m := all[at]
	want := [...]string{"user", "assistant"}[at%2]
	if m.Role != want {
		return "roles must alternate between user and assistant, beginning with user"
	}
	if len(m.Content) == 0 {
		return "content must not be empty"
	}
	said := model.Message{Role: model.Role(m.Role)}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				return "text content blocks must contain non-whitespace text"
			}
			said.Text += b.Text
		case "tool_use":
			if at+1 == len(all) || !answers(all[at+1], b.ID) {
				return "tool_use ids were found without tool_result blocks immediately after: " + b.ID
			}
			if !modeltest.NameFits.MatchString(b.Name) || !modeltest.IDFits.MatchString(b.ID) {
				return "tool_use: id and name should match pattern '^[a-zA-Z0-9_-]+$'"
			}
			said.ToolCalls = append(said.ToolCalls, model.NewToolCall(b.ID, b.Name, string(b.Input)))
		case "tool_result":
			if at == 0 || !asks(all[at-1], b.ToolUseID) {
				return "unexpected tool_use_id in tool_result: " + b.ToolUseID
			}
			out.Messages = append(out.Messages, model.Message{Role: model.RoleTool, ToolCallID: b.ToolUseID, Text: b.Content})
		default:
			return "unknown block type " + b.Type
		}
	}
	if said.Text != "" || len(said.ToolCalls) > 0 {
		out.Messages = append(out.Messages, said)
	}
	return ""
}

func answers(m wireMessage, id string) bool {
	return slices.ContainsFunc(m.Content, func(b wireBlock) bool { return b.Type == "tool_result" && b.ToolUseID == id })
}

func asks(m wireMessage, id string) bool {
	return slices.ContainsFunc(m.Content, func(b wireBlock) bool { return b.Type == "tool_use" && b.ID == id })
}
