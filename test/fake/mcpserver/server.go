package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Request is what arrived.
type Request struct {
	HTTPMethod string
	// Method is the JSON-RPC method; empty for GET and DELETE.
	Method string
	Header http.Header
	Body   string
}

// Handler runs a tool.
type Handler func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// Text is a tool that always says the same.
func Text(text string) Handler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// Echo is a tool that says its arguments.
func Echo(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
}

// Server is the MCP server.
type Server struct {
	URL string

	http *httptest.Server
	sdk  *mcp.Server
	sse  bool

	mu       sync.Mutex
	handler  http.Handler
	answers  map[string]http.HandlerFunc
	requests []Request
}

// New starts a server of the Streamable HTTP transport that ends with the test.
func New(t testing.TB) *Server { return start(t, false) }

// NewSSE starts a server of the older HTTP+SSE transport, which knows no other.
func NewSSE(t testing.TB) *Server { return start(t, true) }

func start(t testing.TB, sse bool) *Server {
	t.Helper()
	s := &Server{
		sdk: mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, &mcp.ServerOptions{
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
		}),
		sse: sse, answers: map[string]http.HandlerFunc{},
	}
	s.Forget()
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	s.URL = s.http.URL + "/mcp"
	return s
}

// Tool adds a tool, or replaces the one of that name; sessions are notified that the list has
// changed.
func (s *Server) Tool(name, description, schema string, run Handler) {
	s.sdk.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}, mcp.ToolHandler(run))
}

// Forget forgets all sessions: their next request gets 404.
func (s *Server) Forget() {
	get := func(*http.Request) *mcp.Server { return s.sdk }
	var handler http.Handler = mcp.NewStreamableHTTPHandler(get, nil)
	if s.sse {
		handler = mcp.NewSSEHandler(get, nil)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = handler
}

// Break closes all connections, streams included.
func (s *Server) Break() { s.http.CloseClientConnections() }

// Answer puts an answer in place of the SDK's: for a JSON-RPC method, or "GET" for streams. nil
// takes it away. The request's body can be read.
func (s *Server) Answer(method string, answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[method] = answer
}

// Requests are those that arrived, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Count is how often a JSON-RPC method arrived.
func (s *Server) Count(method string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Method == method {
			n++
		}
	}
	return n
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a caller that is gone gets no answer anyway
	var message struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(body, &message) // what is none has no method
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.requests = append(s.requests, Request{HTTPMethod: r.Method, Method: message.Method, Header: r.Header.Clone(), Body: string(body)})
	handler, answer := s.handler, s.answers[message.Method]
	if message.Method == "" {
		answer = s.answers[r.Method]
	}
	s.mu.Unlock()
	switch {
	case answer != nil:
		answer(w, r)
	case s.sse && r.Method == http.MethodPost && r.URL.Query().Get("sessionid") == "":
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	default:
		handler.ServeHTTP(w, r)
	}
}

// Hang answers nothing until the caller is gone.
func Hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
