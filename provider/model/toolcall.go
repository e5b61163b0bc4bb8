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
	// Cut says, in words for the model, that the answer ended before the call was known to be whole.
	// Malformed is what there was of the arguments then, and an ellipsis.
	Cut string
}

// cutWords say why calls are cut, by the reason for which an answer ended.
var cutWords = map[FinishReason]string{
	FinishLength: "The answer was cut off by its token limit before the arguments of this call were complete, so the call was not made. " +
		"Say less beside it, or make the arguments shorter, and call the tool again.",
	FinishFiltered: "A content filter ended the answer before the arguments of this call were complete, so the call was not made. Go on without it.",
}

// overlongWords say it of an answer that is longer than one may be.
const overlongWords = "The answer was longer than an answer may be and was cut off there, so the call was not made. " +
	"Make fewer calls with shorter arguments."

// cutCall is a call that may not be run, whatever its arguments look like: a server may have closed
// what the model had not.
func cutCall(drafted *DraftCall, words string) ToolCall {
	return ToolCall{ID: drafted.ID, Name: drafted.Name, Arguments: json.RawMessage(`{}`), Malformed: drafted.Arguments() + "…", Cut: words}
}

// isObject says whether arguments are a whole JSON object, which no further letter could go on.
func isObject(arguments string) bool {
	text := strings.TrimSpace(arguments)
	return text != "" && text[0] == '{' && json.Valid([]byte(text))
}

// NewToolCall makes a call from arguments as a server sent them, in one piece or collected.
func NewToolCall(id, name, arguments string) ToolCall {
	call := ToolCall{ID: id, Name: name, Arguments: json.RawMessage(`{}`)}
	text := strings.TrimSpace(arguments)
	if text == "" || text == "null" {
		return call
	}
	if !isObject(text) {
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
