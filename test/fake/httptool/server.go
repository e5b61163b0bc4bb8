package httptool

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Request is what arrived.
type Request struct {
	Method string
	// Path is as it was on the wire, escapes included.
	Path   string
	Query  url.Values
	Header http.Header
	Body   string
}

// Step is how one request is answered. The zero value is 200 with an empty body.
type Step struct {
	// Status 0 is 200.
	Status int
	// Header has a line for each line of a value.
	Header map[string]string
	Body   string
	// Reset closes the connection with a TCP reset after the request was read.
	Reset bool
	// BreakOff announces a longer body than Body and closes the connection.
	BreakOff bool
	// Hold answers nothing until the caller is gone.
	Hold bool
	// Until, unless nil, is closed when the answer may go out; it does not if the caller is gone then.
	Until <-chan struct{}
}

// Server is the endpoint.
type Server struct {
	URL string

	mu       sync.Mutex
	scripts  map[string][]Step
	requests []Request
}

// New starts an endpoint that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{scripts: map[string][]Step{}}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Script sets the steps of a path, as it is on the wire, query excluded.
func (s *Server) Script(path string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[path] = steps
}

// Requests are those that arrived at a path, oldest first; at all paths when it is empty.
func (s *Server) Requests(path string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	for _, r := range s.requests {
		if path == "" || r.Path == path {
			out = append(out, r)
		}
	}
	return out
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a caller that hangs up is recorded with what it sent
	arrived := Request{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(), Body: string(body)}
	step, scripted := s.record(arrived)
	if step.Until != nil {
		select {
		case <-step.Until:
		case <-r.Context().Done():
		}
	}
	switch {
	case !scripted:
		echo(w, arrived)
	case step.Hold:
		<-r.Context().Done()
	case step.Reset:
		reset(w)
	default:
		step.write(w)
	}
}

// record keeps the request and takes the next step of its path.
func (s *Server) record(r Request) (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	steps := s.scripts[r.Path]
	if len(steps) == 0 {
		return Step{}, false
	}
	if len(steps) > 1 {
		s.scripts[r.Path] = steps[1:]
	}
	return steps[0], true
}

func (step Step) write(w http.ResponseWriter) {
	for name, value := range step.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = strings.Split(value, "\n")
	}
	if step.BreakOff {
		w.Header().Set("Content-Length", "1000000")
	}
	if step.Status != 0 {
		w.WriteHeader(step.Status)
	}
	_, _ = io.WriteString(w, step.Body) // the caller may be gone
}

// reset closes the connection so that the caller sees "connection reset by peer".
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the caller sees an orderly end
	}
	_ = conn.Close()
}

func echo(w http.ResponseWriter, r Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // the caller may be gone
		"method": r.Method, "path": r.Path, "query": r.Query, "headers": r.Header, "body": r.Body,
	})
}
