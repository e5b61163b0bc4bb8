package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/model"
)

// The JSON of POST /v1/messages, as far as this package uses it. Source: platform.claude.com/docs,
// Messages and Streaming messages.
type request struct {
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	System      string    `json:"system,omitempty"`
	Messages    []message `json:"messages"`
	Tools       []tool    `json:"tools,omitempty"`
	ToolChoice  *choice   `json:"tool_choice,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
	Stream      bool      `json:"stream"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a content block. Type decides which fields are used.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
}

type choice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type wireEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string    `json:"model"`
		Usage wireUsage `json:"usage"`
	} `json:"message"`
	ContentBlock block `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage wireUsage `json:"usage"`
	Error struct {
		Type string `json:"type"`
	} `json:"error"`
}

type wireUsage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

const (
	// defaultMaxTokens is sent when a request has no limit, because the API requires one.
	defaultMaxTokens = 4096
	// opening is sent as the first message of the user when the agent speaks first, because the API
	// requires one.
	opening = "(The conversation begins.)"
)

func wireRequest(req model.Request) request {
	out := request{
		Model:       req.Model,
		MaxTokens:   defaultMaxTokens,
		System:      req.System,
		Messages:    wireMessages(req.Messages),
		Temperature: clamped(req.Temperature),
		Stream:      true,
	}
	if req.MaxOutputTokens > 0 {
		out.MaxTokens = req.MaxOutputTokens
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.WireSchema()})
	}
	if len(out.Tools) == 0 {
		out.Tools = calledTools(req.Messages)
	}
	if len(req.Tools) == 0 && len(out.Tools) > 0 {
		out.ToolChoice = &choice{Type: "none"}
	}
	switch {
	case len(req.Tools) == 0 || req.ToolChoice == model.ChooseAuto:
	case req.ToolChoice == model.ChooseRequired:
		out.ToolChoice = &choice{Type: "any"}
	default:
		out.ToolChoice = &choice{Type: "tool", Name: string(req.ToolChoice)}
	}
	return out
}

// calledTools are the tools that are called in the messages. A request with calls must define
// tools, even if none may be called any more.
func calledTools(messages []model.Message) []tool {
	var called []tool
	for _, m := range messages {
		for _, call := range m.ToolCalls {
			name := model.WireName(call.Name)
			if !slices.ContainsFunc(called, func(t tool) bool { return t.Name == name }) {
				called = append(called, tool{Name: name, Description: "Cannot be called now.", InputSchema: json.RawMessage(`{"type":"object"}`)})
			}
		}
	}
	return called
}

// clamped limits a temperature to the range of Anthropic, 0 to 1.
func clamped(temperature *float64) *float64 {
	if temperature == nil || *temperature <= 1 {
		return temperature
	}
	return new(1.0)
}

// wireMessages joins consecutive messages of one role, because the results of parallel calls must
// be in one message. It leaves out blank text, which the API refuses.
func wireMessages(messages []model.Message) []message {
	var out []message
	for _, m := range messages {
		role, blocks := wireBlocks(m)
		if len(blocks) == 0 {
			continue
		}
		if len(out) == 0 && role == "assistant" {
			out = append(out, message{Role: "user", Content: []block{{Type: "text", Text: opening}}})
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Content = append(out[last].Content, blocks...)
			continue
		}
		out = append(out, message{Role: role, Content: blocks})
	}
	return out
}

func wireBlocks(m model.Message) (role string, blocks []block) {
	if m.Role == model.RoleTool {
		return "user", []block{{Type: "tool_result", ToolUseID: model.WireID(m.ToolCallID), Content: m.Text}}
	}
	role = "user"
	if m.Role == model.RoleAssistant {
		role = "assistant"
	}
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, block{Type: "text", Text: m.Text})
	}
	for _, call := range m.ToolCalls {
		input := call.Arguments
		if len(input) == 0 {
			input = json.RawMessage(`{}`)
		}
		blocks = append(blocks, block{Type: "tool_use", ID: model.WireID(call.ID), Name: model.WireName(call.Name), Input: input})
	}
	return role, blocks
}
