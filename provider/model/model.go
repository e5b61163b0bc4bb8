package model

import (
	"context"
	"encoding/json"
	"time"
)

// Provider answers requests as a stream.
type Provider interface {
	// Name is short and public ("openai", "anthropic", "extractive"); it appears in errors and logs.
	Name() string

	// Stream answers req, handing each [Event] to emit in order, on the calling goroutine.
	//
	// Text is emitted as it arrives. Tool calls are emitted only when the answer is complete,
	// so a call in an answer that broke off is never run. The Result repeats all that was
	// emitted; beside an error it holds what was emitted before it.
	//
	// Errors: an error of emit stops the answer and is returned wrapped; the caller's hang-up
	// or deadline as ctx.Err() wrapped; fault upstream-failed (refused, broke off, too slow) or
	// unavailable (overloaded or rate limited; RetryAfter set when the server named a time).
	// Calls are repeated only before the first byte of an answer.
	Stream(ctx context.Context, req Request, emit func(Event) error) (Result, error)
}

// Request is one call of a model.
type Request struct {
	// Model overrides the provider's configured model; empty takes that one.
	Model string
	// System is the instructions; the core has already written retrieved passages into it for
	// providers that are language models.
	System string
	// Messages is the conversation, oldest first. The last one is the user's or a tool's.
	Messages []Message
	// Tools are those the model may call in this turn.
	Tools []Tool
	// ToolChoice says whether the model must call one of Tools; without Tools it says nothing.
	ToolChoice ToolChoice
	// Temperature is 0..2; nil leaves it to the server.
	Temperature *float64
	// MaxOutputTokens bounds the answer; 0 leaves it to the provider.
	MaxOutputTokens int
	// Passages are the retrieved chunks, best first, for the extractive responder, which quotes
	// them; language models ignore them.
	Passages []Passage
	// Unreachable says that no passages could be looked up, which the extractive responder says;
	// System says it to language models.
	Unreachable bool
	// Memories are what is remembered of the user, for the extractive responder; language models have
	// them in System.
	Memories []Memory
	// Metadata is for logs and tests (ids); it is not sent to a vendor.
	Metadata map[string]string
	// Standby says that another provider stands by: a failure is better told at once than repeated.
	// [Chain] sets it.
	Standby bool
}

// ToolChoice is [ChooseAuto], [ChooseRequired], or the name of one of the tools, which must be
// called. That none may be called is said by a request without tools.
type ToolChoice string

// The choices that are no tool's name: no name holds a colon.
const (
	ChooseAuto     ToolChoice = ""
	ChooseRequired ToolChoice = ":required"
)

// Role says who speaks in a [Message].
type Role string

// The roles. Instructions are Request.System and no role.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one item of a conversation.
type Message struct {
	Role Role
	// Text is the words; for RoleTool the tool's output, errors included.
	Text string
	// ToolCalls are the calls an assistant message made. Each needs a tool message that answers it.
	ToolCalls []ToolCall
	// Bare is, on a RoleTool message, the output without the marks that Text may have around it, for
	// responders that are no language models; empty: Text has none.
	Bare string
	// ToolCallID names, on a RoleTool message, the call it answers.
	ToolCallID string
}

// Tool is what a model is told about a tool.
type Tool struct {
	// Name is the tool's slug.
	Name        string
	Description string
	// InputSchema is a JSON Schema of type object; empty means no arguments.
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
	// PageStart and PageEnd are counted from 1; 0 where the source has no pages.
	PageStart, PageEnd int
	// Similarity is max(0, cosine) of the query, 0..1.
	Similarity float64
}

// Memory is one thing that is remembered of the user.
type Memory struct {
	// ID is what tools name it by.
	ID   string
	Text string
}

// Event is a piece of an answer: a [TextDelta] or a [ToolCallReady].
type Event interface{ event() }

// TextDelta is the next piece of the answer's text, never empty; the first is not white space
// alone.
type TextDelta struct{ Text string }

// ToolCallReady is one whole call the model asks for.
type ToolCallReady struct{ Call ToolCall }

func (TextDelta) event()     {}
func (ToolCallReady) event() {}

// FinishReason says why an answer ended.
type FinishReason string

// The finish reasons. FinishToolCalls whenever there is a call, whatever the server called it;
// FinishStop also when it named none, FinishFiltered for what a content filter cut: when it left
// nothing, that is an error.
const (
	FinishStop      FinishReason = "stop"
	FinishLength    FinishReason = "length"
	FinishToolCalls FinishReason = "tool_calls"
	FinishFiltered  FinishReason = "content_filter"
)

// Usage counts tokens as the server reported them; nothing is estimated.
type Usage struct {
	InputTokens  int
	OutputTokens int
	// Incomplete says that the server did not report all of it (an answer that broke off or was
	// stopped, a server that does not count): what is missing is 0, and the truth is more.
	Incomplete bool
}

// plus is both counts together.
func (u Usage) plus(other Usage) Usage {
	return Usage{u.InputTokens + other.InputTokens, u.OutputTokens + other.OutputTokens, u.Incomplete || other.Incomplete}
}

// Attempt is one provider that was asked for an answer.
type Attempt struct {
	Provider string
	// Model is the one that was asked, as far as it is known.
	Model string
	// Reason is why it did not answer: the fault's reason, ReasonCircuitOpen or ReasonEmptyAnswer;
	// empty for the one that did.
	Reason string
	// Message says it in a sentence that may be shown; empty for the one that answered.
	Message string
	Took    time.Duration
}

// The reasons of an Attempt that are no fault's.
const (
	// ReasonCircuitOpen: it was not asked, because it had failed several times in a row.
	ReasonCircuitOpen = "circuit-open"
	// ReasonEmptyAnswer: it answered without a word and without a call.
	ReasonEmptyAnswer = "empty-answer"
)

// Result is a whole answer.
type Result struct {
	Text         string
	ToolCalls    []ToolCall
	FinishReason FinishReason
	// Usage is that of all attempts.
	Usage Usage
	// Provider is the Name of the provider that answered, also behind a [Chain].
	Provider string
	// Model is the model as the server named it, else as it was asked for.
	Model string
	// Citations are the indices in Request.Passages that were quoted, ascending. Only the
	// extractive responder knows them.
	Citations []int
	// Attempts are the providers that were asked, in order, the one that answered last. Also beside
	// an error. Only [Chain] fills them in.
	Attempts []Attempt
}
