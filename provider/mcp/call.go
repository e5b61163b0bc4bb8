package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of a list of tools.
const (
	maxTools = 500
	maxPages = 50
)

// Tool is one a server has, in the server's own words.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	// ReadOnly is the server's own word that the tool changes nothing.
	ReadOnly bool `json:"read_only,omitempty"`
}

// List lists a server's tools, at most 500. Errors: *Error.
func (c *Client) List(ctx context.Context, key string, e Endpoint) ([]Tool, error) {
	for try := 1; ; try++ {
		at, failed := c.acquire(ctx, key, e)
		if failed != nil {
			return nil, failed
		}
		list, failed := at.s.list(ctx)
		c.giveBack(at, failed)
		if failed == nil {
			return list, nil
		}
		again := failed.Kind == Unreachable || failed.lost // to list twice does no harm
		if try == 2 || ctx.Err() != nil || !again {
			return nil, failed
		}
	}
}

func (s *session) list(ctx context.Context) ([]Tool, *Error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	s.door.refill()
	var list []Tool
	cursor, seen := "", map[string]bool{}
	for range maxPages {
		x := &exchange{}
		page, err := s.ListTools(withExchange(ctx, x), &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			if refused := refusal(err); refused != nil && refused.Code == jsonrpc.CodeMethodNotFound && len(list) == 0 {
				return nil, nil // a server without tools
			}
			return nil, classify(ctx, err, x)
		}
		for _, tool := range page.Tools {
			if schema, err := json.Marshal(tool.InputSchema); err == nil && len(list) < maxTools {
				list = append(list, Tool{
					Name: tool.Name, Title: tool.Title, Description: tool.Description, InputSchema: schema,
					ReadOnly: tool.Annotations != nil && tool.Annotations.ReadOnlyHint,
				})
			}
		}
		if cursor = page.NextCursor; cursor == "" || seen[cursor] || len(list) == maxTools {
			break
		}
		seen[cursor] = true
	}
	return list, nil
}

// CallParams is one call of a tool.
type CallParams struct {
	Tool string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// ID names the call; progress is reported on it.
	ID string
	// Timeout is how long the server may be silent: each progress it reports begins it anew.
	Timeout time.Duration
	// MaxTime bounds the call however much progress it reports.
	MaxTime time.Duration
}

// Result is a tool's answer.
type Result struct {
	// Text is the answer as a model can read it, up to MaxAnswerBytes and a marker.
	Text string
	// IsError says that the tool itself reports a failure, which Text tells about.
	IsError bool
	// Attempts is how often the call was sent, or would have been.
	Attempts int
	// StatusCode is the HTTP status of the last answer, 0 without one.
	StatusCode int
}

// Call calls a tool. A call of which bytes may have been sent is not repeated, unless the server
// says that it has forgotten the session, and with that has not read it. Errors: *Error, with a
// Result that has Attempts and StatusCode.
func (c *Client) Call(ctx context.Context, key string, e Endpoint, p CallParams) (Result, error) {
	for try := 1; ; try++ {
		at, failed := c.acquire(ctx, key, e)
		if failed != nil {
			return Result{Attempts: try, StatusCode: failed.Status}, failed
		}
		result, failed := at.s.call(ctx, p, e.MaxAnswerBytes)
		c.giveBack(at, failed)
		result.Attempts = try
		if failed == nil {
			return result, nil
		}
		result.StatusCode = failed.Status
		if try == 2 || ctx.Err() != nil || !failed.mayRepeat() {
			return result, failed
		}
	}
}

// giveBack releases a session after a call, out of the pool when the call says that it is of no
// use.
func (c *Client) giveBack(at *slot, failed *Error) {
	if failed != nil && failed.fatal() {
		c.discard(at)
	}
	c.release(at)
}

// fatal says that the session is of no use after it. A server that is silent has perhaps lost the
// stream that its answers come on.
func (e *Error) fatal() bool {
	switch e.Kind {
	case Canceled:
		return false
	case Refused:
		return e.lost
	case Status:
		return e.Status != http.StatusTooManyRequests && e.Status < 500
	}
	return true
}

// mayRepeat says that the server cannot have begun the call.
func (e *Error) mayRepeat() bool {
	if e.Kind == Timeout || e.Kind == Canceled || e.Kind == NotPublic || e.Kind == TooLarge {
		return false
	}
	return !e.Sent || e.lost
}

func (s *session) call(ctx context.Context, p CallParams, maxBytes int) (Result, *Error) {
	x := &exchange{}
	ctx, cancel := context.WithCancelCause(withExchange(ctx, x))
	defer cancel(nil) // the SDK reads what is left of a stream until then
	silent := time.AfterFunc(p.Timeout, func() { cancel(errTimeout) })
	defer silent.Stop()
	over := time.AfterFunc(p.MaxTime, func() { cancel(errTimeout) })
	defer over.Stop()
	defer s.onProgress(p.ID, func() { silent.Reset(p.Timeout) })()
	s.door.refill()
	params := &sdk.CallToolParams{Name: p.Tool, Arguments: p.Arguments}
	params.SetProgressToken(p.ID)
	answer, err := s.CallTool(ctx, params)
	if err != nil {
		return Result{}, classify(ctx, err, x)
	}
	return Result{Text: text(answer, maxBytes), IsError: answer.IsError, StatusCode: int(x.status.Load())}, nil
}
