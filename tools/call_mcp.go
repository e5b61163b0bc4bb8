package tools

import (
	"context"
	"encoding/json"

	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/tools/mcpservers"
	"parlance.dev/parlance/tools/template"
)

// callMCP calls a tool of an MCP server.
func (s *Service) callMCP(ctx context.Context, e *execution, o *Outcome) {
	endpoint, arguments, problem := s.renderMCP(e, o)
	if problem != nil {
		o.Error = problem
		return
	}
	s.callEndpoint(ctx, e, o, endpoint.URL, func() health {
		result, failed, err := s.mcp.Call(ctx, endpoint, mcpservers.CallParams{
			Tool: e.Entry.RemoteTool, Arguments: arguments, CallID: e.CallID, Timeout: e.Entry.Tool.Config.Timeout(),
		})
		if err != nil {
			failed = s.internal(ctx, "call MCP tool", err)
		}
		o.Attempts, o.StatusCode, o.OutputText, o.Error = result.Attempts, result.StatusCode, result.Text, failed
		return healthOf(o.Error, o.StatusCode)
	})
}

// renderMCP makes the request, and sets o.Request to the same request without secrets.
func (s *Service) renderMCP(e *execution, o *Outcome) (mcpservers.Endpoint, json.RawMessage, *Error) {
	tool := e.Entry.Tool
	endpoint, problem := s.mcpServer(e.Ref, tool, e.Variables.operator).Endpoint(e.secretHeaders)
	if problem != nil {
		return mcpservers.Endpoint{}, nil, problem
	}
	e.addRendered(endpoint.Headers)
	visible, problem := s.mcpServer(e.Ref, tool, e.Variables.masked).Endpoint(hidden(e.secretHeaders))
	if problem != nil {
		return mcpservers.Endpoint{}, nil, problem
	}
	arguments := e.arguments
	if tool.Config.AllowDynamicVars {
		if arguments, problem = template.Object(arguments, e.Variables.model); problem != nil {
			return mcpservers.Endpoint{}, nil, problem
		}
	}
	body := jsonvalue.Compact(map[string]any{
		"method": "tools/call", "params": map[string]any{"name": e.Entry.RemoteTool, "arguments": arguments},
	})
	o.Request = &Request{Method: "POST", URL: visible.URL, Headers: visible.Headers, Body: body}
	return endpoint, json.RawMessage(jsonvalue.Compact(arguments)), nil
}
