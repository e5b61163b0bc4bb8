package parlance

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

// Reason says why a call was refused: a code of docs/errors.md, or ReasonNotParlance. A service
// that is newer than this package may give one that has no constant here.
type Reason string

// ReasonNotParlance is the reason of an answer that is not a Parlance service's and for whose
// status there is no other reason: a redirect, a page, a proxy's refusal.
const ReasonNotParlance Reason = "not-parlance"

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
	// HTTPStatus is the status of the answer to an upload or to a socket's handshake, and of an
	// answer that is not the service's; 0 otherwise.
	HTTPStatus int

	answered bool
	// foreign says that the answer is not the service's.
	foreign bool
	cause   error
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

// Error is the reason, the message and the id of the request.
func (e *Error) Error() string {
	text := string(e.Reason)
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Unwrap returns the error below: of a generated client a *connect.Error.
func (e *Error) Unwrap() error { return e.cause }

// Answered reports whether the call was refused, by the service or by what is in between, rather
// than not answered at all.
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
	if known, done := errors.AsType[*Error](err); done && known.HTTPStatus > 0 {
		known.cause = connect.NewWireError(known.Code, errors.New(known.Message)) // for connect.CodeOf
		return known
	} else if done || !ok {
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

// reasonOf is the reason of an error that has none: of the protocol, or of this side.
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
