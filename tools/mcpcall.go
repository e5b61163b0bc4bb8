package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/provider/mcp"
)

// CodeTool says that the tool of an MCP server reports a failure itself.
const CodeTool Code = "tool-error"

// CodeAnswerTooLarge says that an MCP server sent more than could be read.
const CodeAnswerTooLarge Code = "answer-too-large"

// performMCP calls a tool of an MCP server.
func (s *Service) performMCP(ctx context.Context, c *call, o *Outcome) {
	tool := c.Entry.Tool
	e, arguments, problem := s.renderMCP(ctx, c, o)
	if problem != nil {
		o.Error = problem
		return
	}
	s.reach(ctx, c, o, e.URL, func() breaker.Result {
		result, err := s.mcp.client.Call(ctx, e.key, e.Endpoint, mcp.CallParams{
			Tool: c.Entry.RemoteTool, Arguments: arguments, ID: c.CallID, Timeout: tool.Config.Timeout(), MaxTime: max(mcpMaxTime, tool.Config.Timeout()),
		})
		o.Attempts, o.StatusCode, o.OutputText = result.Attempts, result.StatusCode, result.Text
		switch failed, isFailed := errors.AsType[*mcp.Error](err); {
		case isFailed:
			o.Error = mcpFailure(failed, tool.Config)
		case err != nil:
			o.Error = s.internal(ctx, "call MCP tool", err)
		case result.IsError:
			o.Error = refuse(CodeTool, "The tool reports that it failed. Read its answer: if the arguments were wrong, correct them and call the tool again; otherwise tell the user.")
		}
		return mcpVerdict(o.Error, o.StatusCode)
	})
}

// renderMCP makes what is sent, and fills in o.Request the same without secrets.
func (s *Service) renderMCP(ctx context.Context, c *call, o *Outcome) (mcpEndpoint, json.RawMessage, *Error) {
	config := c.Entry.Tool.Config
	e, problem := s.mcpEndpoint(ctx, c.Ref, c.Entry.Tool, c.authorization, c.Variables.operator)
	if problem != nil {
		return mcpEndpoint{}, nil, problem
	}
	if e.authorization != c.authorization { // it held placeholders
		c.redact = newRedactor(append(c.secrets, authSecrets(e.authorization)...))
	}
	shown := ""
	if c.authorization != "" {
		shown = redactedWord
	}
	visible, problem := s.mcpEndpoint(ctx, c.Ref, c.Entry.Tool, shown, c.Variables.masked)
	if problem != nil {
		return mcpEndpoint{}, nil, problem
	}
	arguments := c.arguments
	if config.AllowDynamicVars {
		if arguments, problem = renderObject(arguments, c.Variables.model); problem != nil {
			return mcpEndpoint{}, nil, problem
		}
	}
	body := compactJSON(map[string]any{"method": "tools/call", "params": map[string]any{"name": c.Entry.RemoteTool, "arguments": arguments}})
	o.Request = &Request{Method: "POST", URL: visible.URL, Headers: visible.Headers, Body: body}
	return e, json.RawMessage(compactJSON(arguments)), nil
}

// mcpFailure tells the model what happened.
func mcpFailure(failed *mcp.Error, config Config) *Error {
	unclear := ""
	if failed.Sent {
		unclear = " Whether it took effect is not known."
	}
	switch failed.Kind {
	case mcp.Canceled:
		return refuse(CodeCanceled, "The call was cancelled before the tool answered.%s", unclear)
	case mcp.Timeout:
		return refuse(CodeTimeout, "The tool did not answer within %d seconds.%s Tell the user, and do not repeat the call unless they ask.", config.TimeoutSeconds, unclear)
	case mcp.NotPublic:
		return refuse(CodeNotPublic, "The tool's host has an address that is not public, so it was not called. Tell the user that this is not possible right now.")
	case mcp.Unresolvable:
		return refuse(CodeUnresolvable, "The tool's host name does not resolve. Tell the user that this is not possible right now.")
	case mcp.TooLarge:
		return refuse(CodeAnswerTooLarge, "The tool's answer is too large to be read.%s Ask for less, or tell the user that this is not possible right now.", unclear)
	case mcp.Refused:
		return refuse(CodeTool, "The tool's server refused the call: %s If the arguments were wrong, correct them and call the tool again; otherwise tell the user.", fence(failed.Message))
	case mcp.Status:
		return statusFailure(failed.Status)
	case mcp.Protocol:
		return refuse(CodeConnectionFailed, "What answers at the tool's address does not speak MCP as it should.%s Tell the user that this is not possible right now.", unclear)
	case mcp.Unreachable:
	}
	return refuse(CodeConnectionFailed, "The tool's server could not be reached, or the connection broke.%s Tell the user that this is not possible right now; it may work later.", unclear)
}

// mcpVerdict is what a call says about its server's health.
func mcpVerdict(failed *Error, status int) breaker.Result {
	if failed != nil && failed.Code == CodeTool {
		return breaker.Healthy
	}
	return verdict(failed, status)
}

// runEntry is the entry that a run of an mcp tool calls: the server is asked what it has first. When
// that fails, the call is refused with the reason, and traced.
// Errors: Invalid invalid-request on remote_tool.
func (s *Service) runEntry(ctx context.Context, tool Tool, remote string, p *CallParams) error {
	found := s.discover(ctx, mcpContext{ref: p.Ref, variables: p.Variables, wait: mcpAskTimeout, force: true}, tool, "")
	entries := s.mcpEntries(tool, Attachment{Enabled: true}, found)
	if found.reason != "" {
		p.Entry = entries[0]
		p.Entry.Enabled, p.Entry.RemoteTool = true, cmp.Or(remote, p.Entry.RemoteTool)
		p.Refused = refuse(CodeConnectionFailed, "The tool was not called, because its server could not be asked what it has: %s.", found.detail)
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
	list := cutText(strings.Join(names, ", "), 500)
	if remote == "" {
		return fault.InvalidField("remote_tool", "required", "%s stands for several tools of its server; name one of them: %s.", tool.Slug, list)
	}
	return fault.InvalidField("remote_tool", "unknown", "%s has no tool %q; it has: %s.", tool.Slug, remote, list)
}
