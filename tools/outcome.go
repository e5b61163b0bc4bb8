package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/tools/modeltext"
)

// Code is a stable slug that says why a call failed.
type Code = failure.Code

// Error is why a call failed. Its message tells the model what to do.
type Error = failure.Error

// Request is what was sent to the endpoint, redacted.
type Request struct {
	Method  string
	URL     string
	Headers map[string]string
	Body    string
}

// Outcome is the result of a call, redacted.
type Outcome struct {
	// CallID is the id of the trace, and the Idempotency-Key of the requests.
	CallID string
	// Output is the text for the model: the answer, or why there is none and what to do. It is never
	// empty, and has at most ModelMaxBytes and a marker.
	Output string
	// OutputText is the answer of the endpoint as text, up to response_max_bytes.
	OutputText string
	// OutputJSON is the answer if it is valid JSON of at most 1,000 levels, or nil.
	OutputJSON json.RawMessage
	// StatusCode is the HTTP status of the last attempt. 0 when there was no answer.
	StatusCode int
	Latency    time.Duration
	// Attempts is 0 when nothing was sent.
	Attempts int
	// Error is nil when the call succeeded.
	Error *Error
	// Request is nil when none was made.
	Request   *Request
	StartedAt time.Time
	// Untraced is the trace if it could not be stored, or nil.
	Untraced *Call
}

// AnswerIntro separates what the service says about a failed call from the answer of its endpoint.
const AnswerIntro = "\nThe endpoint's answer: "

// setOutput sets Output from the answer or the error.
func (o *Outcome) setOutput() {
	switch {
	case o.Error == nil && o.OutputText == "":
		o.Output = "The call succeeded; the answer is empty."
	case o.Error == nil:
		o.Output = CutForModel(o.compact())
	case o.OutputText == "":
		o.Output = fmt.Sprintf("Error (%s): %s", o.Error.Code, o.Error.Message)
	default:
		o.Output = CutForModel(fmt.Sprintf("Error (%s): %s%s%s", o.Error.Code, o.Error.Message, AnswerIntro, o.compact()))
	}
}

// compact is the answer without the white space between the tokens of JSON.
func (o *Outcome) compact() string {
	var out bytes.Buffer
	if o.OutputJSON == nil || json.Compact(&out, o.OutputJSON) != nil {
		return o.OutputText
	}
	return out.String()
}

// CutForModel is the part of a text that a model gets of an answer, with a marker where it was cut.
func CutForModel(text string) string { return modeltext.Cut(text, ModelMaxBytes) }
