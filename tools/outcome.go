package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Code is a stable slug that says why a call failed.
type Code string

// The codes of a failed call; those in package fault have the same slug there.
const (
	// CodeArgumentsInvalid: the arguments do not match the input_schema. Not sent.
	CodeArgumentsInvalid Code = "tool-arguments-invalid"
	// CodeVariableMissing: a placeholder has no value. Not sent.
	CodeVariableMissing Code = "tool-variable-missing"
	// CodeArgumentUnsafe: a value would leave its place in the URL. Not sent.
	CodeArgumentUnsafe Code = "argument-unsafe"
	// CodeHeaderInvalid: a rendered header would hold a line break. Not sent.
	CodeHeaderInvalid Code = "header-invalid"
	// CodeRequestInvalid: the rendered request cannot be sent. Not sent.
	CodeRequestInvalid Code = "request-invalid"
	// CodeDisabled: the tool is off for the agent. Not sent.
	CodeDisabled Code = "disabled"
	// CodeNotAvailable: the tool is not built yet. Not sent.
	CodeNotAvailable Code = "not_available"
	// CodeCallsExhausted: max_calls_per_session is reached. Not sent.
	CodeCallsExhausted Code = "calls-exhausted"
	// CodeCircuitOpen: the endpoint failed too often just now. Not sent.
	CodeCircuitOpen Code = "circuit-open"
	// CodeUnavailable: too many calls wait for a slot already. Not sent.
	CodeUnavailable Code = "unavailable"
	// CodeNotPublic: the endpoint's name resolves to an address that is not public. Not sent.
	CodeNotPublic Code = "not-public"
	// CodeUnresolvable: the endpoint's name does not resolve. Not sent.
	CodeUnresolvable Code = "unresolvable"
	// CodeConnectionFailed: the endpoint could not be reached, or the connection broke.
	CodeConnectionFailed Code = "connection-failed"
	// CodeTimeout: no answer within timeout_seconds.
	CodeTimeout Code = "timeout"
	// CodeHTTPStatus: the endpoint answered with another status than 2xx.
	CodeHTTPStatus Code = "http-status"
	// CodeCanceled: the caller gave up, e.g. the user interrupted.
	CodeCanceled Code = "canceled"
	// CodeInternal: our own fault.
	CodeInternal Code = "internal"
)

// Error is why a call failed. Message tells the model what to do.
type Error struct {
	Code    Code
	Message string
}

func refuse(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Request is what was sent to the endpoint, with secrets redacted.
type Request struct {
	Method  string
	URL     string
	Headers map[string]string
	Body    string
}

// Outcome is what came of a call; secrets are redacted everywhere in it.
type Outcome struct {
	// CallID is the trace's id, and the Idempotency-Key the endpoint saw.
	CallID string
	// Output is what the model gets, never empty, at most ModelMaxBytes and a marker: the
	// answer, or why there is none and what to do.
	Output string
	// OutputText is the endpoint's answer as text, up to response_max_bytes.
	OutputText string
	// OutputJSON is the answer when it is whole JSON; else nil.
	OutputJSON json.RawMessage
	// StatusCode is the HTTP status of the last attempt; 0 when there was no answer.
	StatusCode int
	Latency    time.Duration
	// Attempts is 0 when nothing was sent.
	Attempts int
	// Error is nil when the call succeeded.
	Error *Error
	// Request is nil when none was made.
	Request   *Request
	StartedAt time.Time
	// Untraced is the trace when it is not written down; nil when it is.
	Untraced *Call
}

// forModel completes Output from the answer or the error.
func (o *Outcome) forModel() {
	switch {
	case o.Error == nil && o.OutputText == "":
		o.Output = "The call succeeded; the answer is empty."
	case o.Error == nil:
		o.Output = cutText(o.compact(), ModelMaxBytes)
	case o.OutputText == "":
		o.Output = fmt.Sprintf("Error (%s): %s", o.Error.Code, o.Error.Message)
	default:
		o.Output = cutText(fmt.Sprintf("Error (%s): %s\nThe endpoint's answer: %s", o.Error.Code, o.Error.Message, o.compact()), ModelMaxBytes)
	}
}

// compact is the answer without the white space that JSON is laid out with.
func (o *Outcome) compact() string {
	var out bytes.Buffer
	if o.OutputJSON == nil || json.Compact(&out, o.OutputJSON) != nil {
		return o.OutputText
	}
	return out.String()
}
