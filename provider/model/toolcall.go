package model

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// ToolCall is a call of a tool by a model.
type ToolCall struct {
	// ID is unique in the conversation.
	ID   string
	Name string
	// Arguments is always a JSON object: `{}` when the model sent nothing or something else.
	Arguments json.RawMessage
	// Malformed is the text that the model wrote as arguments if it is not a JSON object. Such a call
	// is not run. A tool message tells the model what was wrong.
	Malformed string
	// Cut tells the model that the answer ended before the call was complete. Malformed is then the
	// beginning of the arguments and an ellipsis.
	Cut string
}

// cutWords tell the model why a call was cut, by finish reason.
var cutWords = map[FinishReason]string{
	FinishLength: "The answer was cut off by its token limit before the arguments of this call were complete, so the call was not made. " +
		"Say less beside it, or make the arguments shorter, and call the tool again.",
	FinishFiltered: "A content filter ended the answer before the arguments of this call were complete, " +
		"so the call was not made. Go on without it.",
}

// overlongWords tell it for an answer that is too long.
const overlongWords = "The answer was longer than an answer may be and was cut off there, so the call was not made. " +
	"Make fewer calls with shorter arguments."

// cutCall is a call that must not be run, even with valid arguments: a server may have closed
// brackets that the model had not.
func cutCall(drafted *AnswerCall, words string) ToolCall {
	return ToolCall{ID: drafted.ID, Name: drafted.Name, Arguments: json.RawMessage(`{}`), Malformed: drafted.Arguments() + "…", Cut: words}
}

// isObject says whether arguments are a complete JSON object.
func isObject(arguments string) bool {
	text := strings.TrimSpace(arguments)
	return text != "" && text[0] == '{' && json.Valid([]byte(text))
}

// NewToolCall makes a call of the arguments that a server sent.
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

// RawArguments is the text that the model wrote: Malformed if it is set, else Arguments, compact.
// Adapters send it in later requests.
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

// CallID makes an id for the call with index n of an answer without ids. It differs from every id
// in the messages of the request, and from those of other n.
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

// ToolName is the name of the tool of a call id, or empty.
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
