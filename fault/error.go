package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a decision about a request or task. Message is shown to the caller, so it never
// holds a secret, another tenant's data or a cause's text; the cause is kept for the log.
type Error struct {
	Reason  Reason
	Message string
	// Fields are the violations behind InvalidRequest and its kin.
	Fields []Field
	// Meta becomes ErrorInfo.metadata and extra members of the problem, e.g. the limit that was
	// reached.
	Meta map[string]string
	// RetryAfter, when positive, becomes the Retry-After header and RetryInfo.
	RetryAfter time.Duration

	err error
}

// Field is one violation: Field is the path in snake_case ("input_schema", "events[2]"),
// Code a stable slug ("required", "max_len"), Message a sentence.
type Field struct {
	Field   string
	Code    string
	Message string
}

// sentence names the field, unless the message does.
func (f Field) sentence() string {
	last := f.Field[strings.LastIndexByte(f.Field, '.')+1:]
	if strings.HasPrefix(f.Message, last+" ") {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// New returns an error with a message of its own. The message says what to do.
func New(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Wrap is New with a cause, kept for the log and for errors.Is.
func Wrap(err error, reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...), err: err}
}

// InvalidField returns InvalidRequest on one field.
func InvalidField(field, code, format string, args ...any) *Error {
	return InvalidFields(Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

// InvalidFields returns InvalidRequest with all its violations; the message is made from them.
func InvalidFields(fields ...Field) *Error {
	message := "The request is not valid."
	if len(fields) > 0 {
		message = fields[0].sentence()
	}
	return &Error{Reason: InvalidRequest, Message: message, Fields: fields}
}

// OnField returns an error with another reason about one field, e.g. webhook-url-not-https on url.
func OnField(reason Reason, field, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	return &Error{Reason: reason, Message: message, Fields: []Field{{Field: field, Code: string(reason), Message: message}}}
}

// NoSuch returns not-found for a noun ("tool", "agent"). The text does not tell an unknown id from
// one of another tenant.
func NoSuch(noun, id string) *Error {
	return New(ResourceNotFound, "No %s with the id %q.", noun, id)
}

// Kind is the kind of the error's reason.
func (e *Error) Kind() Kind { return e.Reason.Kind() }

// Error is for logs: reason, message and cause.
func (e *Error) Error() string {
	if e.err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Reason, e.Message, e.err)
	}
	return fmt.Sprintf("%s: %s", e.Reason, e.Message)
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.err }

// From returns an Error anywhere in the chain as it is, a caller's hang-up or a passed deadline as
// such, and everything else as Internal without its text. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if decided, ok := errors.AsType[*Error](err); ok {
		return decided
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Wrap(err, CallerCanceled, "The request was cancelled by its caller.")
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(err, DeadlineExceeded, "The request took longer than its deadline.")
	}
	return Wrap(err, InternalError, "Internal error.")
}

// ReasonOf returns the reason of err as From sees it; empty for nil.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	return From(err).Reason
}

// IsReason reports whether err is a decision with that reason.
func IsReason(err error, r Reason) bool { return err != nil && From(err).Reason == r }
