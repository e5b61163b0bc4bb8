package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/tools/mcpservers"
	"parlance.dev/parlance/tools/modeltext"
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
	// RemoteTool is the tool of an MCP server, by the name that the server or the model uses. It is
	// needed when the tool stands for several.
	RemoteTool string
	// DynamicVariables are values for the placeholders. Those named system__… replace the examples.
	DynamicVariables map[string]string
}

// exampleVariables are the system variables of a run.
func exampleVariables(now time.Time) map[string]string {
	return map[string]string{
		"system__session_id": "ses_example", "system__conversation_id": "ses_example", "system__agent_id": "agt_example",
		"system__user_id": "user_example", "system__time_utc": now.UTC().Format(time.RFC3339), "system__timezone": "UTC",
		"system__language": "en", "system__caller_id": "+15550100000", "system__called_number": "+15550100001",
	}
}

// Run calls the endpoint of a tool outside any session. Caps do not count, everything else is as in
// Call. A failure of the endpoint is in Outcome.Error, not in the error.
// Errors: NotFound, Invalid tool-arguments-invalid, Invalid invalid-request (a built-in or
// system tool, too many variables), Forbidden plan-tools-not-enabled and plan-mcp-not-enabled.
func (s *Service) Run(ctx context.Context, ref workspaces.Ref, p RunParams) (Outcome, error) {
	tool, err := s.Get(ctx, ref, p.ToolID)
	if err != nil {
		return Outcome{}, err
	}
	if tool.Bucket != BucketCustom {
		return Outcome{}, fault.InvalidField("tool_id", "not_custom",
			"%s runs only in a conversation; run takes custom tools.", tool.ID)
	}
	if err := s.checkPlan(ctx, ref, tool.Kind); err != nil {
		return Outcome{}, err
	}
	if err := checkVariables(p.DynamicVariables); err != nil {
		return Outcome{}, err
	}
	variables := exampleVariables(s.now())
	maps.Copy(variables, p.DynamicVariables)
	params := CallParams{
		Ref: ref, Entry: newEntry(tool, Attachment{Enabled: true}, ""), Arguments: p.Arguments, Variables: NewVariables(variables),
	}
	switch {
	case tool.Kind == KindMCP:
		if err := s.selectRemoteTool(ctx, p.RemoteTool, &params); err != nil {
			return Outcome{}, err
		}
	case p.RemoteTool != "":
		return Outcome{}, fault.InvalidField("remote_tool", "not_allowed", "remote_tool belongs to kind mcp.")
	}
	_, fields, err := s.checkArguments(params.Entry.InputSchema, p.Arguments)
	if err != nil {
		return Outcome{}, err
	}
	// Call refuses wrong arguments too, and traces the refusal.
	outcome := s.Call(ctx, params)
	if invalid := argumentsFault(fields); invalid != nil {
		return Outcome{}, invalid
	}
	return outcome, nil
}

// argumentsFault is the error about arguments that do not match the schema, with a field for each
// violation. It is nil when they match.
func argumentsFault(fields []fault.Field) *fault.Error {
	if len(fields) == 0 {
		return nil
	}
	refused := fault.New(fault.ToolArgumentsInvalid, "The arguments do not match the tool's input_schema. %s", fieldText(fields))
	for _, f := range fields {
		f.Field = "args" + withDot(f.Field)
		refused.Fields = append(refused.Fields, f)
	}
	return refused
}

func withDot(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}

func checkVariables(variables map[string]string) error {
	if len(variables) > maxVariables {
		return fault.InvalidField("dynamic_variables", "max_pairs",
			"dynamic_variables can have at most %d members.", maxVariables)
	}
	for name, value := range variables {
		if len(value) > maxVariableBytes {
			return fault.InvalidField("dynamic_variables", "max_bytes",
				"The value of %q has more than %d bytes.", name, maxVariableBytes)
		}
	}
	return nil
}

// selectRemoteTool sets p.Entry to the tool of an MCP server that a run calls. The server is asked
// for its tools first. When that fails, p refuses the call with the reason. Errors: Invalid
// invalid-request on remote_tool.
func (s *Service) selectRemoteTool(ctx context.Context, remote string, p *CallParams) error {
	tool := p.Entry.Tool
	query := mcpservers.Query{Wait: mcpservers.FetchTimeout, Refresh: true}
	found := s.mcp.Discover(ctx, query, s.mcpServer(p.Ref, tool, p.Variables.operator))
	entries := mcpEntries(tool, Attachment{Enabled: true}, found)
	if found.Reason != "" {
		p.Entry = entries[0]
		p.Entry.Enabled, p.Entry.RemoteTool = true, cmp.Or(remote, p.Entry.RemoteTool)
		p.Refused = failure.New(failure.ConnectionFailed,
			"The tool was not called, because its server could not be asked what it has: %s.", found.Detail)
		return nil
	}
	if remote == "" && len(entries) == 1 {
		p.Entry = entries[0]
		return nil
	}
	at := slices.IndexFunc(entries, func(e Entry) bool { return e.RemoteTool == remote || e.Name == remote })
	if at >= 0 && remote != "" {
		p.Entry = entries[at]
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.RemoteTool)
	}
	list := modeltext.Cut(strings.Join(names, ", "), 500)
	if remote == "" {
		return fault.InvalidField("remote_tool", "required",
			"%s stands for several tools of its server; name one of them: %s.", tool.Slug, list)
	}
	return fault.InvalidField("remote_tool", "unknown", "%s has no tool %q; it has: %s.", tool.Slug, remote, list)
}
