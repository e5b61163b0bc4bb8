package turns

import (
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

const (
	// MaxWaitingResponds bounds the answers of a socket that wait for the one in progress.
	MaxWaitingResponds = 16
	// MaxClientTools bounds the tools of a client in one answer.
	MaxClientTools = 128
)

// MaxItemIDBytes bounds an id that a client chooses.
const MaxItemIDBytes = 128

// A call that the client runs ends the answer in which it was made:
//
//	ClientToolCalled ──► client ──► ToolOutput, Respond ──► the next answer
//	                       └── nothing in client_tool_timeout_seconds ──► the model is told
//
// The call is in its turn's row and its result in a later one, so any socket of the session can
// bring the result, also after a reconnect to another node. The session's engine (package live)
// keeps the time, and delays answers until all calls of the answer before have results.

const (
	// MaxClientOutputBytes bounds a client's result of a call.
	MaxClientOutputBytes = 256 << 10
	// codeClient and clientToolFailed describe a result that the client calls an error.
	codeClient       = "client-error"
	clientToolFailed = "The client's tool failed."
)

// ToolOutput is a client's result of a call that it was asked to make.
type ToolOutput struct {
	CallID string
	// Output has at most MaxClientOutputBytes; the model gets as much as of any other answer.
	Output  string
	IsError bool
}

// Check refuses a result that cannot be stored. field goes before the names of its fields. Errors:
// Invalid invalid-request.
func (o ToolOutput) Check(field string) *fault.Error {
	if o.CallID == "" || !sessions.IsStorable(o.CallID) || len(o.CallID) > MaxItemIDBytes {
		return fault.InvalidField(field+"call_id", "length", "call_id is the id of a call that a client was asked to make.")
	}
	if len(o.Output) > MaxClientOutputBytes || !sessions.IsStorable(o.Output) {
		return fault.InvalidField(field+"output", "length",
			"output is text of at most %d bytes, without the character U+0000. Send less.", MaxClientOutputBytes)
	}
	return nil
}

// Message is the result as it is stored, without an item's id.
func (o ToolOutput) Message() sessions.Message {
	m := sessions.Message{Role: sessions.RoleTool, CallID: o.CallID, Text: tools.CutForModel(o.Output), Result: &sessions.CallResult{}}
	if o.IsError {
		m.Result.ErrorCode, m.Result.ErrorMessage = codeClient, clientToolFailed
		m.Text = sessions.ErrorText(codeClient, clientToolFailed+" "+m.Text)
	}
	return m
}

// IsSayable reports whether the user can have said the text: it is not empty and not too long.
func IsSayable(text string) bool {
	return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= sessions.MaxTextChars && sessions.IsStorable(text)
}

// ErrTextLength refuses a text that IsSayable does not accept.
func ErrTextLength() *fault.Error {
	return fault.InvalidField(
		"text",
		"length",
		"text must have 1 to %d characters, not only spaces, and cannot have the character U+0000.",
		sessions.MaxTextChars,
	)
}
