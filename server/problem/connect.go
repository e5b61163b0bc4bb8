package problem

import (
	"errors"
	"strconv"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"parlance.dev/parlance/fault"
)

// Domain is ErrorInfo.domain of every error of Parlance.
const Domain = "parlance.dev"

// ToConnect returns the error in its Connect form: the kind's code, the message, and an ErrorInfo
// with the reason and metadata. Violations become a BadRequest; a time to wait becomes a
// RetryInfo and Retry-After, as does every unavailable; a caller that has to authenticate gets
// WWW-Authenticate. The cause is left out.
func ToConnect(err *fault.Error) *connect.Error {
	out := connect.NewError(err.Kind().Code(), errors.New(err.Message))
	add(out, &errdetails.ErrorInfo{Reason: string(err.Reason), Domain: Domain, Metadata: err.Meta})
	if len(err.Fields) > 0 {
		violations := make([]*errdetails.BadRequest_FieldViolation, len(err.Fields))
		for i, f := range err.Fields {
			violations[i] = &errdetails.BadRequest_FieldViolation{Field: f.Field, Reason: f.Code, Description: f.Message}
		}
		add(out, &errdetails.BadRequest{FieldViolations: violations})
	}
	if wait := retryAfter(err); wait > 0 {
		add(out, &errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
		out.Meta().Set("Retry-After", strconv.Itoa(seconds(wait)))
	}
	if err.Kind() == fault.Unauthenticated {
		out.Meta().Set(challengeHeader, challenge(err))
	}
	return out
}

// add appends a detail. Encoding fails only for a string that is not UTF-8; the error is then sent
// without the detail.
func add(to *connect.Error, message proto.Message) {
	if detail, err := connect.NewErrorDetail(message); err == nil {
		to.AddDetail(detail)
	}
}

// FromConnect returns the fault in an error of a Connect handler or client. An error without our
// ErrorInfo comes from the protocol and gets the reason nearest to its code; an error that is not
// a Connect error is judged by fault.From. FromConnect(nil) is nil.
func FromConnect(err error) *fault.Error {
	if err == nil {
		return nil
	}
	if decided, ok := errors.AsType[*fault.Error](err); ok {
		return decided
	}
	wire, ok := errors.AsType[*connect.Error](err)
	if !ok {
		return fault.From(err)
	}
	out := fault.Wrap(err, reasonOf(wire.Code()), "%s", wire.Message())
	for _, detail := range wire.Details() {
		value, err := detail.Value()
		if err != nil {
			continue // a detail of an unknown type
		}
		apply(out, value)
	}
	if out.Reason == fault.InternalError {
		// The text of an unexpected error was not written for the caller.
		out.Message = "Internal error."
	}
	return out
}

func apply(to *fault.Error, detail proto.Message) {
	switch detail := detail.(type) {
	case *errdetails.ErrorInfo:
		if entry, known := fault.Lookup(fault.Reason(detail.GetReason())); known && detail.GetDomain() == Domain {
			to.Reason = entry.Reason
			to.Meta = detail.GetMetadata()
		}
	case *errdetails.BadRequest:
		for _, v := range detail.GetFieldViolations() {
			to.Fields = append(to.Fields, fault.Field{Field: v.GetField(), Code: v.GetReason(), Message: v.GetDescription()})
		}
	case *errdetails.RetryInfo:
		to.RetryAfter = detail.GetRetryDelay().AsDuration()
	case *validate.Violations:
		to.Fields = append(to.Fields, Violations(detail)...)
		if len(to.Fields) > 0 {
			to.Message = to.Fields[0].Field + ": " + to.Fields[0].Message
		}
	}
}

// Violations converts protovalidate's violations: the field is its path in snake_case, the code
// the last part of the rule's id ("string.min_len" → "min_len").
func Violations(all *validate.Violations) []fault.Field {
	fields := make([]fault.Field, len(all.GetViolations()))
	for i, v := range all.GetViolations() {
		id := v.GetRuleId()
		fields[i] = fault.Field{
			Field:   protovalidate.FieldPathString(v.GetField()),
			Code:    id[strings.LastIndexByte(id, '.')+1:],
			Message: sentence(v.GetMessage()),
		}
	}
	return fields
}

// reasonOf returns the reason for errors that the protocol makes: an unknown procedure, a message
// that cannot be decoded, a body over the limit, a deadline.
func reasonOf(code connect.Code) fault.Reason {
	switch code {
	case connect.CodeCanceled:
		return fault.CallerCanceled
	case connect.CodeInvalidArgument, connect.CodeOutOfRange:
		return fault.InvalidRequest
	case connect.CodeDeadlineExceeded:
		return fault.DeadlineExceeded
	case connect.CodeNotFound:
		return fault.ResourceNotFound
	case connect.CodeAlreadyExists, connect.CodeAborted, connect.CodeFailedPrecondition:
		return fault.Conflict
	case connect.CodePermissionDenied:
		return fault.AuthScope
	case connect.CodeUnauthenticated:
		return fault.AuthInvalidKey
	case connect.CodeResourceExhausted:
		return fault.BodyTooLarge
	case connect.CodeUnimplemented:
		return fault.NotImplemented
	case connect.CodeUnavailable:
		return fault.ServiceUnavailable
	case connect.CodeUnknown, connect.CodeInternal, connect.CodeDataLoss:
	}
	return fault.InternalError
}
