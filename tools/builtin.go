package tools

import (
	"context"
	"encoding/json"

	"parlance.dev/parlance/workspaces"
)

// Builtin runs one built-in or system tool.
type Builtin interface {
	// RunBuiltin returns text for the model. The model gets the message of a fault.Error as the error
	// of the tool. Any other error is logged, and the model does not get its text.
	RunBuiltin(ctx context.Context, call BuiltinCall) (string, error)
}

// BuiltinFunc is a function that implements Builtin.
type BuiltinFunc func(ctx context.Context, call BuiltinCall) (string, error)

// RunBuiltin calls f.
func (f BuiltinFunc) RunBuiltin(ctx context.Context, call BuiltinCall) (string, error) {
	return f(ctx, call)
}

// BuiltinCall is one call of a built-in tool.
type BuiltinCall struct {
	Ref       workspaces.Ref
	SessionID string
	TurnID    string
	CallID    string
	// Arguments match the schema of the tool.
	Arguments json.RawMessage
	// Variables are the public variables of the session, among them system__user_id and
	// system__agent_id.
	Variables map[string]string
}
