package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"parlance.dev/parlance/provider/model"
)

// The JSON of POST /v1/chat/completions, as far as this package uses it.
// Source: platform.openai.com/docs/api-reference/chat.
type request struct {
	Messages            []message      `json:"messages"`
	Tools               []tool         `json:"tools,omitempty"`
	Model               string         `json:"model"`
	ToolChoice          any            `json:"tool_choice,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
}

// encode returns the request as JSON. It does not escape <, > and &: models count tokens.
func (r request) encode() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return out.Bytes(), nil
}

// streamOptions asks for a last chunk with the token counts.
type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role string `json:"role"`
	// Content may be missing only beside tool calls.
	Content    *string    `json:"content,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is a JSON Schema.
	Parameters json.RawMessage `json:"parameters"`
}

type chunk struct {
	Object string `json:"object"`
	Model  string `json:"model"`
	// Error replaces everything else when the server fails in mid-stream. null means no error.
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

type choice struct {
	Index int   `json:"index"`
	Delta delta `json:"delta"`
	// Message replaces Delta when a server does not stream. Some servers that stream send it as
	// well and repeat in it the text so far.
	Message      *delta `json:"message"`
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content   string      `json:"content"`
	Refusal   string      `json:"refusal"`
	ToolCalls []callDelta `json:"tool_calls"`
	// The reasoning of a model is not read, only noticed. Each name is used by some servers.
	Reasoning        filled `json:"reasoning"`
	ReasoningContent filled `json:"reasoning_content"`
	ReasoningDetails filled `json:"reasoning_details"`
}

// thinks says whether the delta has a piece of reasoning.
func (d *delta) thinks() bool {
	return bool(d.Reasoning || d.ReasoningContent || d.ReasoningDetails)
}

// filled is true for a member that is not empty, of any type.
type filled bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *filled) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "null", `""`, "[]", "{}":
	default:
		*f = true
	}
	return nil
}

type callDelta struct {
	// Index is nil where the server sends none.
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments is a piece of JSON inside a JSON string. Servers that send whole calls may send the
// object itself.
type arguments string

// UnmarshalJSON takes the content of a string, and anything else as the JSON that it is.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	if raw[0] != '"' {
		*a = arguments(raw)
		return nil
	}
	return json.Unmarshal(raw, (*string)(a))
}

// failed says whether the chunk reports an error. Older versions of vLLM send "object": "error".
func (c chunk) failed() bool {
	return c.Object == "error" || (len(c.Error) > 0 && string(c.Error) != "null")
}

// overloaded says whether an error event is about load rather than a fault.
func overloaded(data []byte) bool {
	lower := bytes.ToLower(data)
	return bytes.Contains(lower, []byte("overloaded")) || bytes.Contains(lower, []byte("rate_limit"))
}

// wireRequest converts a request. The newer models of OpenAI and Azure refuse max_tokens. Ollama,
// and llama.cpp until 2026, ignore max_completion_tokens and answer without a limit
// (ollama/ollama#7125, ggml-org/llama.cpp#19831).
func wireRequest(req model.Request, dialect Dialect) request {
	out := request{
		Model:       req.Model,
		Messages:    wireMessages(req),
		Temperature: req.Temperature,
		Stream:      true,
	}
	if !dialect.NoStreamOptions {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if dialect.CompletionTokens {
		out.MaxCompletionTokens = req.MaxOutputTokens
	} else {
		out.MaxTokens = req.MaxOutputTokens
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool{
			Type:     "function",
			Function: function{Name: t.Name, Description: t.Description, Parameters: t.WireSchema()},
		})
	}
	if len(req.Tools) > 0 {
		out.ToolChoice = toolChoice(req.ToolChoice)
	}
	return out
}

// toolChoice is nil when the model may choose, which is the default of every server.
func toolChoice(choice model.ToolChoice) any {
	switch choice {
	case model.ChooseAuto:
		return nil
	case model.ChooseRequired:
		return "required"
	}
	return map[string]any{"type": "function", "function": map[string]string{"name": string(choice)}}
}

func wireMessages(req model.Request) []message {
	out := make([]message, 0, len(req.Messages)+1)
	if req.System != "" {
		out = append(out, message{Role: "system", Content: &req.System})
	}
	for _, m := range req.Messages {
		switch m.Role {
		case model.RoleUser:
			out = append(out, message{Role: "user", Content: &m.Text})
		case model.RoleTool:
			out = append(out, message{Role: "tool", Content: &m.Text, ToolCallID: model.WireID(m.ToolCallID)})
		case model.RoleAssistant:
			out = append(out, assistant(m))
		}
	}
	return out
}

func assistant(m model.Message) message {
	said := message{Role: "assistant"}
	if m.Text != "" || len(m.ToolCalls) == 0 {
		said.Content = &m.Text
	}
	for _, call := range m.ToolCalls {
		said.ToolCalls = append(said.ToolCalls, toolCall{
			ID: model.WireID(call.ID), Type: "function",
			Function: calledByName{Name: model.WireName(call.Name), Arguments: call.RawArguments()},
		})
	}
	return said
}
