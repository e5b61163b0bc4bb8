package tools

import (
	"context"
	"encoding/json"
	"errors"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/tools/failure"
)

// callBuiltin runs a built-in or system tool.
func (s *Service) callBuiltin(ctx context.Context, e *execution, o *Outcome) {
	builtin, ok := s.builtin(e.Entry.Tool.Slug)
	if !ok {
		o.Error = failure.New(failure.NotAvailable, "This tool is not available. Tell the user that this is not possible.")
		return
	}
	if o.Error = s.reserve(ctx, e); o.Error != nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, e.Entry.Tool.Config.Timeout())
	defer cancel()
	arguments, err := json.Marshal(e.arguments)
	if err != nil {
		o.Error = s.internal(ctx, "encode arguments", err)
		return
	}
	o.Attempts = 1
	o.OutputText, err = builtin.RunBuiltin(bounded, BuiltinCall{
		Ref: e.Ref, SessionID: e.SessionID, TurnID: e.TurnID, CallID: e.CallID, Arguments: arguments, Variables: e.Variables.Public,
	})
	if err != nil {
		o.Error = s.builtinFailure(ctx, bounded, err)
	}
}

// builtinFailure converts an error of a built-in. caller is the context of the caller, ctx that of
// the call.
func (s *Service) builtinFailure(caller, ctx context.Context, err error) *Error {
	decided, ok := errors.AsType[*fault.Error](err)
	switch {
	case ok && decided.Reason != fault.InternalError:
		return &Error{Code: Code(decided.Reason), Message: decided.Message}
	case caller.Err() != nil:
		return failure.New(failure.Canceled, "The call was cancelled before it was done.")
	case ctx.Err() != nil:
		return failure.New(failure.Timeout, "The tool took too long. Tell the user that this is not possible right now.")
	}
	return s.internal(caller, "run built-in tool", err)
}
