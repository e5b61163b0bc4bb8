package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"parlance.dev/parlance/platform/quickjson"
	"parlance.dev/parlance/provider/model"
)

// The wire of POST /v1/chat/completions, as far as we use it.
// Source: platform.openai.com/docs/api-reference/chat.
type request struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"-"` // encode writes them
	Tools               []tool         `json:"-"` // as those
	ToolChoice          any            `json:"tool_choice,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
}

// encode is the request as JSON. Its messages and tools, nearly all of it, are written by hand: they were most of what
// encoding/json wrote in a turn.
func (r request) encode() ([]byte, error) {
	rest, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	room := len(rest)
	for _, m := range r.Messages {
		room += messageRoom + m.length()
	}
	for _, t := range r.Tools {
		room += messageRoom + len(t.Function.Description) + len(t.Function.Parameters)
	}
	w := &quickjson.Writer{Out: make([]byte, 0, room)}
	quickjson.Each(w, `{"messages":`, r.Messages, func(m *message) { err = errors.Join(err, m.write(w)) })
	if len(r.Tools) > 0 {
		quickjson.Each(w, `,"tools":`, r.Tools, func(t *tool) { t.write(w) })
	}
	w.Put(",")
	return append(w.Out, rest[1:]...), err // there always is a model
}

// streamOptions asks for a last chunk with the token counts.
type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role string
	// Content may be missing beside tool calls only.
	Content    *string
	ToolCalls  []toolCall
	ToolCallID string
}

// messageRoom is about what a message takes beside its content.
const messageRoom = 64

// length is about that of the content as JSON, escapes included.
func (m *message) length() int {
	if m.Content == nil {
		return 0
	}
	return len(*m.Content) + len(*m.Content)/16
}

func (m *message) write(w *quickjson.Writer) error {
	w.Text(`{"role":`, m.Role)
	if m.Content != nil {
		w.Text(`,"content":`, *m.Content)
	}
	if len(m.ToolCalls) > 0 {
		calls, err := json.Marshal(m.ToolCalls)
		if err != nil {
			return fmt.Errorf("writing tool calls: %w", err)
		}
		w.Put(`,"tool_calls":`)
		w.Out = append(w.Out, calls...)
	}
	if m.ToolCallID != "" {
		w.Text(`,"tool_call_id":`, m.ToolCallID)
	}
	w.Put("}")
	return nil
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
	Type     string
	Function function
}

type function struct {
	Name        string
	Description string
	// Parameters are a JSON schema, which is written as it is: whoever declares a tool was asked for valid JSON.
	Parameters json.RawMessage
}

func (t *tool) write(w *quickjson.Writer) {
	w.Text(`{"type":`, t.Type)
	w.Text(`,"function":{"name":`, t.Function.Name)
	if t.Function.Description != "" {
		w.Text(`,"description":`, t.Function.Description)
	}
	w.Put(`,"parameters":`)
	w.Out = append(w.Out, t.Function.Parameters...)
	w.Put("}}")
}

type chunk struct {
	Object string `json:"object"`
	Model  string `json:"model"`
	// Error stands in place of all else when the server fails in mid-stream; null says nothing.
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
	// Message stands in place of Delta where a server does not stream. Some that do repeat in it what was said.
	Message      *delta `json:"message"`
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content   string      `json:"content"`
	Refusal   string      `json:"refusal"`
	ToolCalls []callDelta `json:"tool_calls"`
	// What the model thinks is not read; each is one server's name for it.
	Reasoning        filled `json:"reasoning"`
	ReasoningContent filled `json:"reasoning_content"`
	ReasoningDetails filled `json:"reasoning_details"`
}

// thinks says whether there is a piece of a thought.
func (d *delta) thinks() bool {
	return bool(d.Reasoning || d.ReasoningContent || d.ReasoningDetails)
}

// filled says whether a member has anything in it, of whatever type.
type filled bool

// UnmarshalJSON looks at the JSON.
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

// arguments is JSON in a string, of which a piece may come; servers that send whole calls may
// send the object itself.
type arguments string

// UnmarshalJSON takes a string's content, and of anything else the JSON.
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

// failed says whether the chunk reports an error; "object": "error" is older vLLM's way.
func (c chunk) failed() bool {
	return c.Object == "error" || (len(c.Error) > 0 && string(c.Error) != "null")
}

// overloaded says whether an error event is about load rather than a fault.
func overloaded(data []byte) bool {
	lower := bytes.ToLower(data)
	return bytes.Contains(lower, []byte("overloaded")) || bytes.Contains(lower, []byte("rate_limit"))
}

// wireRequest writes a request. OpenAI's and Azure's newer models refuse max_tokens, while Ollama, and llama.cpp until 2026, pass max_completion_tokens over and answer
// without a limit (ollama/ollama#7125, ggml-org/llama.cpp#19831).
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

// toolChoice is nil where the model may choose, which all servers take for granted.
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
