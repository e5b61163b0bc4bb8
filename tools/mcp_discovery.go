package tools

import (
	"context"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/tools/mcpservers"
	"parlance.dev/parlance/workspaces"
)

// DiscoverMCPParams say which MCP server is asked: ToolID is a tool whose server, headers and
// secrets are used, or URL is the server.
type DiscoverMCPParams struct {
	ToolID ID
	URL    string
	// AuthHeader and Headers go with URL.
	AuthHeader seal.Secret
	Headers    map[string]string
}

// DiscoverMCP asks an MCP server which tools it has. Errors: NotFound, Invalid invalid-request,
// Forbidden plan-tools-not-enabled and plan-mcp-not-enabled, Invalid egress-refused, Upstream
// upstream-failed.
func (s *Service) DiscoverMCP(ctx context.Context, ref workspaces.Ref, p DiscoverMCPParams) (mcpservers.Inspection, error) {
	if err := s.checkPlan(ctx, ref, KindMCP); err != nil {
		return mcpservers.Inspection{}, err
	}
	server, err := s.namedServer(ctx, ref, p)
	if err != nil {
		return mcpservers.Inspection{}, err
	}
	return s.mcp.Inspect(ctx, server)
}

// namedServer is the server that the parameters name.
func (s *Service) namedServer(ctx context.Context, ref workspaces.Ref, p DiscoverMCPParams) (mcpservers.Server, error) {
	if p.ToolID == "" {
		return s.givenServer(ref, p)
	}
	if p.URL != "" || p.AuthHeader.IsSet() || len(p.Headers) > 0 {
		return mcpservers.Server{}, fault.InvalidField("tool_id", "conflict",
			"With tool_id the tool's own server and headers are used; leave out mcp_server_url, auth_header and headers.")
	}
	tool, err := s.Get(ctx, ref, p.ToolID)
	if err != nil {
		return mcpservers.Server{}, err
	}
	if tool.Kind != KindMCP {
		return mcpservers.Server{}, fault.InvalidField("tool_id", "not_mcp", "%s is no tool of kind mcp.", tool.ID)
	}
	return s.mcpServer(ref, tool, NewVariables(exampleVariables(s.now())).operator), nil
}

// givenServer is a server that no tool has yet. It is checked as that of a tool is. Its headers are
// secrets: they are stored nowhere, and a server that repeats them is not believed.
func (s *Service) givenServer(ref workspaces.Ref, p DiscoverMCPParams) (mcpservers.Server, error) {
	var v violations
	if p.URL == "" {
		v.add("mcp_server_url", "required", "Send either mcp_server_url or tool_id.")
	} else {
		s.checker.checkURL(&v, "mcp_server_url", p.URL, "")
	}
	v.checkHeaders("headers", p.Headers)
	v.checkSecrets(Tool{}, secrets{authHeader: &p.AuthHeader})
	if len(v) > 0 {
		return mcpservers.Server{}, v.err()
	}
	return mcpservers.Server{
		Ref: ref, URL: p.URL, MaxAnswerBytes: DefaultResponseMaxBytes,
		OpenSecretHeaders: func(context.Context) (map[string]string, error) {
			headers := map[string]string{}
			for name, value := range p.Headers {
				headers[name] = value
			}
			if p.AuthHeader.IsSet() {
				headers[authorizationHeader] = p.AuthHeader.Reveal()
			}
			return headers, nil
		},
	}, nil
}
