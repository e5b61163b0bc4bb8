package model

import (
	"context"
	"encoding/json"
	"time"
)

// Provider answers requests as a stream.
type Provider interface {
	// Name is short and public ("openai", "anthropic", "extractive"). It appears in errors and logs.
	Name() string

	// Stream answers req. It calls emit with each [Event] in order, on the calling goroutine.
	//
	// Text is emitted as it arrives. Tool calls are emitted only when the answer is complete, so a
	// call in an answer that broke off is never run. The Result has everything that was emitted, also
	// beside an error.
	//
	// Errors: an error of emit stops the answer and is returned wrapped; ctx.Err() wrapped when ctx
	// ends; fault upstream-failed (refused, broke off, too slow) or unavailable (overloaded or rate
	// limited; RetryAfter set when the server named a time). Calls are repeated only before the first
	// byte of an answer.
	Stream(ctx context.Context, req Request, emit func(Event) error) (Result, error)
}

// Request is one call of a model.
type Request struct {
	// Model overrides the configured model of the provider. Empty uses that one.
	Model string
	// System is the instructions. For language models they include the retrieved passages.
	System string
	// Messages is the conversation, oldest first. The last one is of a user or a tool.
	Messages []Message
	// Tools are the tools that the model may call in this turn.
	Tools []Tool
	// ToolChoice says whether the model must call one of Tools. It is ignored without Tools.
	ToolChoice ToolChoice
	// Temperature is from 0 to 2. nil leaves it to the server.
	Temperature *float64
	// MaxOutputTokens bounds the answer. 0 leaves it to the provider.
	MaxOutputTokens int
	// Passages are the retrieved chunks, best first. The extractive responder quotes them; language
	// models ignore them.
	Passages []Passage
	// Unreachable says that the search for passages failed, for the extractive responder. Language
	// models learn it from System.
	Unreachable bool
	// Memories are those of the user, for the extractive responder. Language models have them in
	// System.
	Memories []Memory
	// Metadata has ids for logs and tests. It is not sent to a vendor.
	Metadata map[string]string
	// Standby says that another provider can answer: the call is not repeated after a failure. [Chain]
	// sets it.
	Standby bool
}

// ToolChoice is [ChooseAuto], [ChooseRequired], or the name of a tool that must be called. A
// request without tools allows no calls.
type ToolChoice string

// The choices other than names of tools. Names have no colon.
const (
	ChooseAuto     ToolChoice = ""
	ChooseRequired ToolChoice = ":required"
)

// Role is the author of a [Message].
type Role string

// The roles. Instructions are in Request.System.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one item of a conversation.
type Message struct {
	Role Role
	// Text is the text. For RoleTool it is the output of the tool, or its error.
	Text string
	// ToolCalls are the calls an assistant message made. Each needs a tool message that answers it.
	ToolCalls []ToolCall
	// Bare is the output of a RoleTool message without the marks around Text, for responders that are
	// not language models. Empty when Text has no marks.
	Bare string
	// ToolCallID is the call that a RoleTool message answers.
	ToolCallID string
}

// Tool is what a model is told about a tool.
type Tool struct {
	// Name is the slug of the tool.
	Name        string
	Description string
	// InputSchema is a JSON Schema of type object. Empty means no arguments.
	InputSchema json.RawMessage
}

// Schema is InputSchema, or the schema of an empty object when there is none.
func (t Tool) Schema() json.RawMessage {
	if len(t.InputSchema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.InputSchema
}

// Passage is a retrieved chunk.
type Passage struct {
	// Source is the name of the source, e.g. "Refund policy".
	Source string
	// Heading is the path of headings above the text, e.g. "Returns > Refunds"; may be empty.
	Heading string
	Text    string
	// PageStart and PageEnd count from 1. They are 0 when the source has no pages.
	PageStart, PageEnd int
	// Similarity is max(0, cosine) to the query.
	Similarity float64
}

// Memory is one memory of the user.
type Memory struct {
	// ID is the id that tools use.
	ID   string
	Text string
}

// Event is a piece of an answer: a [TextDelta] or a [ToolCallReady].
type Event interface{ event() }

// TextDelta is the next piece of the text. It is never empty, and the first is not white space
// alone.
type TextDelta struct{ Text string }

// ToolCallReady is one complete tool call.
type ToolCallReady struct{ Call ToolCall }

func (TextDelta) event()     {}
func (ToolCallReady) event() {}

// FinishReason says why an answer ended.
type FinishReason string

// The finish reasons. An answer with a call has FinishToolCalls, whatever the server says.
// FinishStop is also used when the server gives no reason. FinishFiltered is an answer that a
// content filter cut; if nothing is left, that is an error.
const (
	FinishStop      FinishReason = "stop"
	FinishLength    FinishReason = "length"
	FinishToolCalls FinishReason = "tool_calls"
	FinishFiltered  FinishReason = "content_filter"
)

// Usage is the token counts of the server. Nothing is estimated, but by Estimate.
type Usage struct {
	InputTokens  int
	OutputTokens int
	// Incomplete says that the server did not report all counts, because the answer broke off, was
	// stopped, or the server does not count. Missing counts are 0.
	Incomplete bool
	// Estimated says that Estimate filled in counts.
	Estimated bool
}

// IsZero reports whether nothing was counted.
func (u Usage) IsZero() bool { return u.InputTokens == 0 && u.OutputTokens == 0 }

// plus adds two counts.
func (u Usage) plus(other Usage) Usage {
	return Usage{
		u.InputTokens + other.InputTokens, u.OutputTokens + other.OutputTokens,
		u.Incomplete || other.Incomplete, u.Estimated || other.Estimated,
	}
}

// Attempt is the call of one provider by a [Chain].
type Attempt struct {
	Provider string
	// Model is the model that was called, if known.
	Model string
	// Reason is why it did not answer: the reason of the fault, ReasonCircuitOpen or
	// ReasonEmptyAnswer. Empty for the one that answered.
	Reason string
	// Message is the reason as a sentence for users. Empty for the one that answered.
	Message string
	Took    time.Duration
}

// The reasons of an Attempt that are not reasons of faults.
const (
	// ReasonCircuitOpen: it was not called, because it had failed several times in a row.
	ReasonCircuitOpen = "circuit-open"
	// ReasonEmptyAnswer: its answer had neither text nor calls.
	ReasonEmptyAnswer = "empty-answer"
)

// Result is an answer.
type Result struct {
	Text         string
	ToolCalls    []ToolCall
	FinishReason FinishReason
	// Usage is the sum over all attempts.
	Usage Usage
	// Provider is the Name of the provider that answered, also in a [Chain].
	Provider string
	// Model is the model as the server names it, or else the requested one.
	Model string
	// Citations are the indices of the Request.Passages that were quoted; no others were used. Nil:
	// that is not known. Only the extractive responder sets them.
	Citations []int
	// Attempts are the called providers in order, also beside an error. Only [Chain] sets them.
	Attempts []Attempt
}
