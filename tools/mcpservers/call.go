package mcpservers

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/tools/failure"
)

// CallParams is one call of a server's tool.
type CallParams struct {
	Tool      string
	Arguments json.RawMessage
	// CallID is the id of the logical call.
	CallID  string
	Timeout time.Duration
}

// Call calls a tool. A failure of the server or the connection is a *failure.Error, the error is a
// fault of this service.
func (s *Service) Call(ctx context.Context, e Endpoint, p CallParams) (mcp.Result, *failure.Error, error) {
	result, err := s.client.Call(ctx, e.key, e.Endpoint, mcp.CallParams{
		Tool: p.Tool, Arguments: p.Arguments, ID: p.CallID, Timeout: p.Timeout, MaxTime: max(maxCallTime, p.Timeout),
	})
	if refused, ok := errors.AsType[*mcp.Error](err); ok && refused.Kind == mcp.Refused {
		result.Text = refused.Message // the server's words, which are not ours to say
	}
	failed, err := callFailure(result, err, p.Timeout)
	return result, failed, err
}
