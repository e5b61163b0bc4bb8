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

// Tool is a tool of a server, as the server describes it.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	// ReadOnly says that, according to the server, the tool changes nothing.
	ReadOnly bool `json:"read_only,omitempty"`
	// Malformed says why the server's description of the tool cannot be read. Empty when it can.
	Malformed string `json:"malformed,omitempty"`
}

// List lists the tools of a server, at most 500. Errors: *Error.
func (c *Client) List(ctx context.Context, key string, e Endpoint) ([]Tool, error) {
	for try := 1; ; try++ {
		s, failed := c.acquire(ctx, key, e)
		if failed != nil {
			return nil, failed
		}
		list, _, failed := s.list(ctx)
		c.release(s, failed)
		if failed == nil {
			return list, nil
		}
		retry := failed.Kind == Unreachable || failed.lost // listing twice is harmless
		if try == 2 || ctx.Err() != nil || !retry {
			return nil, failed
		}
	}
}

// list lists the tools. truncated says that the server has more of them than are returned, or goes
// on with pages that were read already.
func (s *session) list(ctx context.Context) (list []Tool, truncated bool, failed *Error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	cursor, seen := "", map[string]bool{"": true}
	for range maxPages {
		page, next, failed := s.page(ctx, cursor)
		if failed != nil {
			return nil, false, failed
		}
		room := maxTools - len(list)
		list = append(list, page[:min(room, len(page))]...)
		switch {
		case len(page) > room, next != "" && len(list) == maxTools:
			return list, true, nil
		case seen[next]:
			return list, next != "", nil
		}
		cursor, seen[next] = next, true
	}
	return list, true, nil
}

// page is one page of the list, and the cursor of the next one.
func (s *session) page(ctx context.Context, cursor string) (list []Tool, next string, failed *Error) {
	x := &exchange{}
	s.guard.begin(x)
	answer, err := s.ListTools(withExchange(ctx, x), &sdk.ListToolsParams{Cursor: cursor})
	if err != nil {
		if refused := refusal(err); refused != nil && refused.Code == jsonrpc.CodeMethodNotFound && cursor == "" {
			return nil, "", nil // a server without tools
		}
		failed = classify(ctx, err, x)
		if failed.Kind == Protocol {
			if list, next, ok := x.readable(); ok {
				return list, next, nil
			}
		}
		return nil, "", failed
	}
	written := x.tools()
	for _, tool := range answer.Tools {
		if read, err := newTool(tool, written); err == nil {
			list = append(list, read)
		}
	}
	return list, answer.NextCursor, nil
}

// CallParams is one call of a tool.
type CallParams struct {
	Tool string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// ID is the id of the call. The server reports progress on it.
	ID string
	// Timeout is how long the server may be silent. Each report of progress restarts it.
	Timeout time.Duration
	// MaxTime bounds the call, whatever progress the server reports.
	MaxTime time.Duration
}

// Result is the answer of a tool.
type Result struct {
	// Text is the answer as text for a model, at most MaxAnswerBytes and a marker.
	Text string
	// IsError says that the tool reports a failure. Text describes it.
	IsError bool
	// Attempts is how often sending the call was tried.
	Attempts int
	// StatusCode is the HTTP status of the last answer. 0 without one.
	StatusCode int
}

// Call calls a tool. A call of which bytes may have been sent is not repeated, unless the server
// says that it does not know the session, and so did not read the call. Errors: *Error, with a
// Result that has Attempts and StatusCode.
func (c *Client) Call(ctx context.Context, key string, e Endpoint, p CallParams) (Result, error) {
	for try := 1; ; try++ {
		s, failed := c.acquire(ctx, key, e)
		if failed != nil {
			return Result{Attempts: try, StatusCode: failed.Status}, failed
		}
		result, failed := s.call(ctx, p, e.MaxAnswerBytes)
		c.release(s, failed)
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

// fatal says that the session is unusable after this error. A silent server may have lost the
// stream for its answers.
func (e *Error) fatal() bool {
	switch e.Kind {
	case Canceled:
		return false
	case Refused:
		return e.lost
	case Status:
		return e.Status != http.StatusTooManyRequests && e.Status < 500
	default:
		return true
	}
}

// mayRepeat says that the server cannot have started the call.
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
	s.guard.begin(x)
	params := &sdk.CallToolParams{Name: p.Tool, Arguments: p.Arguments}
	params.SetProgressToken(p.ID)
	answer, err := s.CallTool(ctx, params)
	if err != nil {
		return Result{}, classify(ctx, err, x)
	}
	return Result{Text: text(answer, x.structured(), maxBytes), IsError: answer.IsError, StatusCode: int(x.status.Load())}, nil
}
