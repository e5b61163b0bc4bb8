package parlance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

// Reason says why a call was refused: a code of docs/errors.md. A service that is newer than this
// package may give one that has no constant here.
type Reason string

// Error is a call that was refused, or that had no answer.
type Error struct {
	// Reason is what to decide by. A call without an answer has ReasonUnavailable, one that took
	// longer than Options.Timeout ReasonDeadlineExceeded.
	Reason Reason
	// Message is a sentence for people. Its wording may change.
	Message string
	// Fields are the fields of the request that are at fault, if any.
	Fields []FieldError
	// RequestID names the call in the service's logs; empty without an answer.
	RequestID string
	// RetryAfter is how long the service asks to wait; 0 when it does not say.
	RetryAfter time.Duration
	// Code is the Connect code. Over REST, which uploads use, it is the nearest one.
	Code connect.Code
	// HTTPStatus is the status of the answer to an upload or to a socket's handshake; 0 otherwise.
	HTTPStatus int

	answered bool
	cause    error
}

// FieldError is what is wrong with one field of a request.
type FieldError struct {
	// Field is the path of the field, in snake_case.
	Field string
	// Code is a word such as "required" or "min_len".
	Code string
	// Message is a sentence.
	Message string
}

// Error is the reason and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + e.Message
}

// Unwrap returns the error below: of a generated client a *connect.Error.
func (e *Error) Unwrap() error { return e.cause }

// Answered reports whether the service refused the call, rather than not answering at all.
func (e *Error) Answered() bool { return e.answered }

// ReasonOf returns why a call failed; "" for nil and for errors that are not of a call.
func ReasonOf(err error) Reason {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Reason
	}
	switch {
	case errors.Is(err, context.Canceled):
		return ReasonCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return ReasonDeadlineExceeded
	}
	return ""
}

// IsReason reports whether a call failed for one of the reasons.
func IsReason(err error, reasons ...Reason) bool {
	got := ReasonOf(err)
	for _, reason := range reasons {
		if got == reason {
			return true
		}
	}
	return false
}

// errorOf turns the error of a generated client into an *Error. It leaves nil and every other error
// as it is.
func errorOf(err error) error {
	wire, ok := errors.AsType[*connect.Error](err)
	if _, done := errors.AsType[*Error](err); !ok || done {
		return err
	}
	out := &Error{
		Reason: reasonOf(wire.Code()), Message: wire.Message(), Code: wire.Code(), RequestID: wire.Meta().Get(requestIDHeader),
		RetryAfter: retryAfter(wire.Meta()), answered: connect.IsWireError(err), cause: err,
	}
	// A connection that was cut in the middle of an answer is "internal" for the package connect, and
	// one that was reset is "canceled".
	if !out.answered && (out.Reason == ReasonInternal || out.Reason == ReasonCanceled && !errors.Is(err, context.Canceled)) {
		out.Reason = ReasonUnavailable
	}
	for _, detail := range wire.Details() {
		if value, err := detail.Value(); err == nil {
			out.take(value)
		}
	}
	return out
}

// take adds what a detail of an error says.
func (e *Error) take(detail any) {
	switch detail := detail.(type) {
	case *errdetails.ErrorInfo:
		e.Reason = Reason(detail.GetReason())
	case *errdetails.BadRequest:
		for _, v := range detail.GetFieldViolations() {
			e.Fields = append(e.Fields, FieldError{Field: v.GetField(), Code: v.GetReason(), Message: v.GetDescription()})
		}
	case *errdetails.RetryInfo:
		e.RetryAfter = detail.GetRetryDelay().AsDuration()
	}
}

// reasonOf is the reason of an error that has none: of the protocol, of a proxy, or of this side.
func reasonOf(code connect.Code) Reason {
	switch code {
	case connect.CodeCanceled:
		return ReasonCanceled
	case connect.CodeInvalidArgument, connect.CodeOutOfRange:
		return ReasonInvalidRequest
	case connect.CodeDeadlineExceeded:
		return ReasonDeadlineExceeded
	case connect.CodeNotFound:
		return ReasonNotFound
	case connect.CodeAlreadyExists, connect.CodeAborted, connect.CodeFailedPrecondition:
		return ReasonConflict
	case connect.CodePermissionDenied:
		return ReasonAuthScope
	case connect.CodeUnauthenticated:
		return ReasonAuthInvalidKey
	case connect.CodeResourceExhausted:
		return ReasonRateLimited
	case connect.CodeUnimplemented:
		return ReasonNotImplemented
	case connect.CodeUnavailable:
		return ReasonUnavailable
	}
	return ReasonInternal
}

// retryAfter reads Retry-After, which the service sends in seconds; 0 without one.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// noAnswer is the error of a request that got none. It leaves out the request's URL, which may be
// signed.
func noAnswer(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Reason: ReasonUnavailable, Message: fmt.Sprintf("no answer: %v", err), Code: connect.CodeUnavailable, cause: err}
}
