package openaichat

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/modeltest"
)

// wire is a request as OpenAI's API reference describes it, as far as it is checked here.
type wire struct {
	Model         string        `json:"model"`
	Stream        bool          `json:"stream"`
	StreamOptions object        `json:"stream_options"`
	Messages      []wireMessage `json:"messages"`
	Tools         []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

type wireMessage struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"`
	ToolCallID string  `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// read checks a request and returns what is wrong with it, in OpenAI's sense.
func read(header http.Header, body []byte) (modeltest.Received, string) {
	out := modeltest.Received{Header: header, Body: body}
	var in wire
	if err := json.Unmarshal(body, &in); err != nil {
		return out, "We could not parse the JSON body of your request: " + err.Error()
	}
	if !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		return out, "Unsupported content type."
	}
	if in.Model == "" || len(in.Messages) == 0 || !in.Stream {
		return out, "This fake needs model, messages and stream: true."
	}
	out.Model = in.Model
	for i, m := range in.Messages {
		if problem := readMessage(&out, m); problem != "" {
			return out, fmt.Sprintf("messages[%d]: %s", i, problem)
		}
	}
	if id := unanswered(out.Messages); id != "" {
		return out, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': " + id
	}
	for _, t := range in.Tools {
		if t.Type != "function" || t.Function.Name == "" {
			return out, "tools: type and function.name are required."
		}
		if keyword := modeltest.AtTop(t.Function.Parameters); keyword != "" {
			return out, "Invalid schema for function '" + t.Function.Name +
				"': schema must have type 'object' and not have '" + keyword + "' at the top level."
		}
		out.Tools = append(out.Tools, model.Tool{
			Name: t.Function.Name, Description: t.Function.Description,
			InputSchema: t.Function.Parameters,
		})
	}
	return out, ""
}

func readMessage(out *modeltest.Received, m wireMessage) string {
	text := ""
	if m.Content != nil {
		text = *m.Content
	}
	switch m.Role {
	case "system", "developer":
		out.System += text
		return ""
	case "user":
		out.Messages = append(out.Messages, model.Message{Role: model.RoleUser, Text: text})
	case "tool":
		known := func(seen model.Message) bool {
			return slices.ContainsFunc(seen.ToolCalls, func(c model.ToolCall) bool { return c.ID == m.ToolCallID })
		}
		if !slices.ContainsFunc(out.Messages, known) {
			return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
		}
		out.Messages = append(out.Messages, model.Message{Role: model.RoleTool, Text: text, ToolCallID: m.ToolCallID})
	case "assistant":
		said := model.Message{Role: model.RoleAssistant, Text: text}
		if m.Content == nil && len(m.ToolCalls) == 0 {
			return "content is required."
		}
		for _, c := range m.ToolCalls {
			if c.Type != "function" {
				return "tool_calls need a type."
			}
			if !modeltest.NameFits.MatchString(c.Function.Name) {
				return "tool_calls.function.name: string does not match pattern '^[a-zA-Z0-9_-]+$', or is too long"
			}
			if !modeltest.IDFits.MatchString(c.ID) {
				return "tool_calls.id: string too long, or (a gateway's word) of other characters"
			}
			said.ToolCalls = append(said.ToolCalls, model.NewToolCall(c.ID, c.Function.Name, c.Function.Arguments))
		}
		out.Messages = append(out.Messages, said)
	default:
		return "unknown role " + m.Role
	}
	return ""
}

// unanswered is the id of a tool call that no tool message answers.
func unanswered(messages []model.Message) string {
	for i, m := range messages {
		for _, c := range m.ToolCalls {
			answers := func(later model.Message) bool { return later.ToolCallID == c.ID }
			if !slices.ContainsFunc(messages[i+1:], answers) {
				return c.ID
			}
		}
	}
	return ""
}
