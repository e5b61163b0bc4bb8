package tools

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// Bounds of dynamic variables. Source: decisions, Tools.
const (
	maxVariables     = 64
	maxVariableBytes = 4 << 10
)

// RunParams is a test call by an operator.
type RunParams struct {
	ToolID ID
	// Arguments is a JSON object; empty is no arguments.
	Arguments json.RawMessage
	// RemoteTool says which tool of an MCP server, by its own name or the model's; needed when the tool
	// stands for several.
	RemoteTool string
	// DynamicVariables are values for the placeholders; those named system__… replace the examples.
	DynamicVariables map[string]string
}

// stubVariables are the system variables of a run: the stubbed agent context.
func stubVariables(now time.Time) map[string]string {
	return map[string]string{
		"system__session_id": "ses_example", "system__conversation_id": "ses_example", "system__agent_id": "agt_example",
		"system__user_id": "user_example", "system__time_utc": now.UTC().Format(time.RFC3339), "system__timezone": "UTC",
		"system__language": "en", "system__caller_id": "+15550100000", "system__called_number": "+15550100001",
	}
}

// Run calls the tool's real endpoint outside any session: caps do not count, everything else
// is as in Call. A failure of the endpoint is in Outcome.Error, not in the error.
// Errors: NotFound, Invalid tool-arguments-invalid, Invalid invalid-request (a built-in or
// system tool, too many variables), Forbidden plan-tools-not-enabled and plan-mcp-not-enabled.
func (s *Service) Run(ctx context.Context, ref workspaces.Ref, p RunParams) (Outcome, error) {
	tool, err := s.Get(ctx, ref, p.ToolID)
	if err != nil {
		return Outcome{}, err
	}
	if tool.Bucket != BucketCustom {
		return Outcome{}, fault.InvalidField("tool_id", "not_custom", "%s runs only in a conversation; run takes custom tools.", tool.ID)
	}
	if err := s.allowed(ctx, ref, tool.Kind); err != nil {
		return Outcome{}, err
	}
	if err := checkVariables(p.DynamicVariables); err != nil {
		return Outcome{}, err
	}
	variables := stubVariables(s.now())
	maps.Copy(variables, p.DynamicVariables)
	params := CallParams{Ref: ref, Entry: s.entry(tool, Attachment{Enabled: true}, ""), Arguments: p.Arguments, Variables: NewVariables(variables)}
	switch {
	case tool.Kind == KindMCP:
		if err := s.runEntry(ctx, tool, p.RemoteTool, &params); err != nil {
			return Outcome{}, err
		}
	case p.RemoteTool != "":
		return Outcome{}, fault.InvalidField("remote_tool", "not_allowed", "remote_tool belongs to kind mcp.")
	}
	invalid, err := s.runArguments(params.Entry, p.Arguments)
	if err != nil {
		return Outcome{}, err
	}
	// A run with wrong arguments is traced too: Call refuses them in the same words.
	outcome := s.Call(ctx, params)
	if invalid != nil {
		return Outcome{}, invalid
	}
	return outcome, nil
}

// runArguments is the decision about arguments that do not match, with a field each; nil when they do.
func (s *Service) runArguments(entry Entry, raw json.RawMessage) (*fault.Error, error) {
	arguments, fields := decodeArguments(raw)
	if len(fields) == 0 {
		var err error
		if fields, err = s.schemas.checkArguments(entry.InputSchema, arguments); err != nil {
			return nil, err
		}
	}
	if len(fields) == 0 {
		return nil, nil
	}
	refused := fault.New(fault.ToolArgumentsInvalid, "The arguments do not match the tool's input_schema. %s", fieldText(fields))
	for _, f := range fields {
		f.Field = "args" + prefixed(f.Field)
		refused.Fields = append(refused.Fields, f)
	}
	return refused, nil
}

func prefixed(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}

func checkVariables(variables map[string]string) error {
	if len(variables) > maxVariables {
		return fault.InvalidField("dynamic_variables", "max_pairs", "dynamic_variables can have at most %d members.", maxVariables)
	}
	for name, value := range variables {
		if len(value) > maxVariableBytes {
			return fault.InvalidField("dynamic_variables", "max_bytes", "The value of %q has more than %d bytes.", name, maxVariableBytes)
		}
	}
	return nil
}
