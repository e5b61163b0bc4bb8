package failure

import "fmt"

// Code is a stable slug that says why a call failed.
type Code string

// The codes of a failed call. Those that exist in package fault have the same slug there.
const (
	// ArgumentsInvalid: the arguments do not match the input_schema. Not sent.
	ArgumentsInvalid Code = "tool-arguments-invalid"
	// VariableMissing: a placeholder has no value. Not sent.
	VariableMissing Code = "tool-variable-missing"
	// ArgumentUnsafe: a value would change the path of the URL. Not sent.
	ArgumentUnsafe Code = "argument-unsafe"
	// HeaderInvalid: a rendered header would have a line break or a control character. Not sent.
	HeaderInvalid Code = "header-invalid"
	// RequestInvalid: the rendered request cannot be sent. Not sent.
	RequestInvalid Code = "request-invalid"
	// Disabled: the tool is off for the agent. Not sent.
	Disabled Code = "disabled"
	// NotAvailable: nothing implements the tool. Not sent.
	NotAvailable Code = "not_available"
	// CallsExhausted: max_calls_per_session is reached. Not sent.
	CallsExhausted Code = "calls-exhausted"
	// CircuitOpen: the endpoint failed too often just now. Not sent.
	CircuitOpen Code = "circuit-open"
	// Unavailable: too many calls are waiting already. Not sent.
	Unavailable Code = "unavailable"
	// NotPublic: the host of the endpoint resolves to an address that is not public. Not sent.
	NotPublic Code = "not-public"
	// Unresolvable: the host of the endpoint does not resolve. Not sent.
	Unresolvable Code = "unresolvable"
	// ConnectionFailed: the endpoint could not be reached, or the connection broke.
	ConnectionFailed Code = "connection-failed"
	// Timeout: no answer within timeout_seconds.
	Timeout Code = "timeout"
	// HTTPStatus: the endpoint answered with a status other than 2xx.
	HTTPStatus Code = "http-status"
	// Tool: the tool of an MCP server reports that it failed.
	Tool Code = "tool-error"
	// AnswerTooLarge: an MCP server sent more than is read.
	AnswerTooLarge Code = "answer-too-large"
	// Canceled: the caller gave up, for example because the user interrupted.
	Canceled Code = "canceled"
	// Internal: a fault of this service.
	Internal Code = "internal"
)

// Error is why a call failed. Message tells the model what to do.
type Error struct {
	Code    Code
	Message string
}

// New makes an error.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
