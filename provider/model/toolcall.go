package model

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	// ID is unique in the conversation.
	ID   string
	Name string
	// Arguments is always a JSON object: `{}` when the model sent nothing or something else.
	Arguments json.RawMessage
	// Malformed is what the model wrote as arguments when that was not a JSON object. Such a
	// call is not run: the core answers it with a tool message that says what was wrong.
	Malformed string
}

// NewToolCall makes a call from arguments as a server sent them, in one piece or collected.
func NewToolCall(id, name, arguments string) ToolCall {
	call := ToolCall{ID: id, Name: name, Arguments: json.RawMessage(`{}`)}
	text := strings.TrimSpace(arguments)
	if text == "" || text == "null" {
		return call
	}
	if text[0] != '{' || !json.Valid([]byte(text)) {
		call.Malformed = arguments
		return call
	}
	call.Arguments = json.RawMessage(text)
	return call
}

// RawArguments is what the model wrote: Malformed when that is set, else Arguments, compact.
// Adapters send it back when they replay a conversation.
func (c ToolCall) RawArguments() string {
	if c.Malformed != "" {
		return c.Malformed
	}
	if len(c.Arguments) == 0 {
		return "{}"
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, c.Arguments); err != nil {
		return string(c.Arguments)
	}
	return compact.String()
}

// CallID makes an id for the nth (from 0) call of an answer whose server gave none. It differs
// from every id in the request's messages and from those of other n.
func (r Request) CallID(n int) string {
	taken := map[string]bool{}
	for _, m := range r.Messages {
		for _, c := range m.ToolCalls {
			taken[c.ID] = true
		}
	}
	for i := 1; ; i++ {
		id := "call_" + strconv.Itoa(i)
		if taken[id] {
			continue
		}
		if n == 0 {
			return id
		}
		n--
	}
}

// ToolName is the name of the tool that the call id asked for, empty when it is unknown.
func (r Request) ToolName(callID string) string {
	for _, m := range r.Messages {
		for _, c := range m.ToolCalls {
			if c.ID == callID {
				return c.Name
			}
		}
	}
	return ""
}
