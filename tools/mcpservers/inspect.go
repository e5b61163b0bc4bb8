package mcpservers

import (
	"context"
	"errors"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/redact"
	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/tools/modeltext"
)

// Inspection is what a server says it is, and its tools.
type Inspection struct {
	// Name and Version may be empty.
	Name, Version string
	Tools         []Tool
	// Truncated says that the server has more tools than Tools.
	Truncated bool
}

// maxServerNameChars bounds what a server says it is.
const maxServerNameChars = 200

// Inspect asks a server for its tools over a session of its own, and keeps nothing of it. Errors:
// Invalid invalid-request (the URL or a header cannot be rendered) and egress-refused, Upstream
// upstream-failed.
func (s *Service) Inspect(ctx context.Context, server Server) (Inspection, error) {
	headers, err := server.OpenSecretHeaders(ctx)
	if err != nil {
		return Inspection{}, err
	}
	e, problem := server.Endpoint(headers)
	if problem != nil {
		return Inspection{}, fault.InvalidField("mcp_server_url", "placeholder", "%s", problem.Message)
	}
	limited, cancel := context.WithTimeout(ctx, FetchTimeout)
	defer cancel()
	info, list, truncated, err := s.client.Inspect(limited, e.Endpoint)
	if err != nil {
		return Inspection{}, inspectFailure(ctx, err, e)
	}
	r := redact.New(e.secrets)
	return Inspection{
		Name: modeltext.Visible(r.Text(info.Name), maxServerNameChars), Version: modeltext.Visible(r.Text(info.Version), maxServerNameChars),
		Tools: Limit(s.usable(redactList(list, e))), Truncated: truncated,
	}, nil
}

// inspectFailure says to an operator why a server could not be asked.
func inspectFailure(caller context.Context, err error, e Endpoint) error {
	if caller.Err() != nil {
		return caller.Err()
	}
	reason := fault.UpstreamFailed
	if failed, ok := errors.AsType[*mcp.Error](err); ok && failed.Kind == mcp.NotPublic {
		reason = fault.EgressRefused
	}
	return fault.New(reason, "The server could not be asked for its tools: %s.", listError(err, e))
}
