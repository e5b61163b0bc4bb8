package tools_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/tools"
)

// doing is what a rude server does with a request of which it has read the first byte.
type doing struct {
	// bytes of the request are read before the connection is closed; 0: all of it is read.
	bytes int
	// status is answered; 0: the connection is closed without a whole answer, after partial.
	status     int
	retryAfter string
	partial    string
	reset      bool // close with a TCP reset
	closing    bool // close after the answer
}

func (d doing) String() string {
	return fmt.Sprintf("{read %d, answer %d %q after %q, reset %v, close %v}", d.bytes, d.status, d.retryAfter, d.partial, d.reset, d.closing)
}

// invites says whether the answer asks for another attempt, which is when a POST may be sent again.
func (d doing) invites() bool {
	return (d.status == 429 || d.status == 503) && (d.retryAfter == "0" || strings.HasSuffix(d.retryAfter, "GMT"))
}

// passes says whether an idempotent request is to be sent again.
func (d doing) passes() bool {
	return d.status == 0 || slices.Contains([]int{408, 425, 429, 502, 503, 504}, d.status)
}

// anything picks what a server does.
func anything(r *rand.Rand) doing {
	statuses := []int{200, 201, 204, 301, 400, 404, 408, 409, 425, 429, 429, 500, 502, 503, 503, 504}
	waits := []string{"", "", "0", "0", "Thu, 01 Jan 2026 00:00:00 GMT", "soon", "-1"}
	partials := []string{
		"", "H", "HTTP/1.1 ", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
		"HTTP/1.1 429 Slow\r\nRetry-After: 0\r\nContent-Length: 9\r\n\r\nhalf", "nonsense\r\n\r\n",
	}
	d := doing{reset: r.IntN(2) == 0, closing: r.IntN(2) == 0}
	switch r.IntN(3) {
	case 0:
		d.status, d.retryAfter = statuses[r.IntN(len(statuses))], waits[r.IntN(len(waits))]
	case 1:
		d.partial = partials[r.IntN(len(partials))]
	default:
		d.bytes = 1 + r.IntN(400)
	}
	return d
}

// rudeServer does with the requests it gets what the script says, on bare TCP.
type rudeServer struct {
	url string

	mu     sync.Mutex
	script []doing
	done   []doing // one for each request of which a byte arrived
	keys   []string
	open   map[net.Conn]bool
}

func newRudeServer(t *testing.T) *rudeServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rudeServer{url: "http://" + listener.Addr().String() + "/", open: map[net.Conn]bool{}}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.open[conn] = true
			s.mu.Unlock()
			wait.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		s.mu.Lock()
		for conn := range s.open {
			_ = conn.Close()
		}
		s.mu.Unlock()
		wait.Wait()
	})
	return s
}

// begin sets the script of the next call and forgets the last one.
func (s *rudeServer) begin(script []doing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.done, s.keys = script, nil, nil
}

// seen is what was done since begin, and the keys of the requests that were read whole.
func (s *rudeServer) seen() ([]doing, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.done), slices.Clone(s.keys)
}

// next is what to do with a request whose first byte is there.
func (s *rudeServer) next() doing {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := doing{status: 200}
	if len(s.script) > 0 {
		d, s.script = s.script[0], s.script[1:]
	}
	s.done = append(s.done, d)
	return d
}

func (s *rudeServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReaderSize(conn, 4096)
	for {
		if _, err := reader.Peek(1); err != nil {
			return
		}
		d := s.next()
		if d.reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		if d.bytes > 0 {
			_, _ = io.CopyN(io.Discard, reader, int64(min(d.bytes, reader.Buffered())))
			return
		}
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		s.mu.Lock()
		s.keys = append(s.keys, request.Header.Get("Idempotency-Key"))
		s.mu.Unlock()
		if d.status == 0 {
			_, _ = io.WriteString(conn, d.partial)
			if d.partial != "" { // a reset might take back what was written
				_ = conn.(*net.TCPConn).SetLinger(-1)
			}
			return
		}
		_, _ = io.WriteString(conn, d.answer())
		if d.closing {
			_ = conn.(*net.TCPConn).SetLinger(-1)
			return
		}
	}
}

func (d doing) answer() string {
	text := fmt.Sprintf("HTTP/1.1 %d Status\r\n", d.status)
	if d.retryAfter != "" {
		text += "Retry-After: " + d.retryAfter + "\r\n"
	}
	if d.closing {
		text += "Connection: close\r\n"
	}
	if d.status == 204 {
		return text + "\r\n"
	}
	return text + "Content-Length: 2\r\n\r\nok"
}

// TestRetryRule has servers do anything at any byte and holds what arrives against the rule: a POST
// or PATCH of which a byte was written is sent again only after 429 or 503 with Retry-After; GET,
// PUT and DELETE whenever it may help; nothing more than three times; one key for all attempts.
func TestRetryRule(t *testing.T) {
	t.Parallel()
	const seed, rounds, callsEach = 20261122, 60, 4 // a fifth failure would open the breaker
	f := newFixture(t)
	server := newRudeServer(t)
	methods := []string{"GET", "PUT", "DELETE", "POST", "PATCH"}
	entries := map[string]tools.Entry{}
	for _, method := range methods {
		params := f.orderParams("")
		params.Slug, params.Config.Method, params.Config.WebhookURL = "rule_"+method, method, server.url
		entries[method] = f.attached(t, f.create(t, params), 0)
	}
	repeated := map[string]int{}
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		node := f.node(0)
		for range callsEach {
			method := methods[r.IntN(len(methods))]
			script := []doing{anything(r), anything(r), anything(r), anything(r)}
			server.begin(script)
			outcome := node.Call(
				t.Context(),
				tools.CallParams{
					Ref: f.ref, SessionID: "ses_1", Entry: entries[method],
					Arguments: []byte(`{"id":"1","note":"` + strings.Repeat("n", r.IntN(300)) + `"}`),
				},
			)
			done, keys := server.seen()
			if problem := breaks(method, done, outcome); problem != "" {
				t.Errorf("round %d, %s: %s\ndone %v\noutcome %+v after %d attempts", round, method, problem, done, outcome.Error, outcome.Attempts)
			}
			for _, key := range keys {
				if key != outcome.CallID {
					t.Errorf("round %d: an attempt has the key %q, the call is %s", round, key, outcome.CallID)
				}
			}
			repeated[method] += len(done) - 1
		}
	}
	for _, method := range methods {
		if repeated[method] < 3 {
			t.Errorf("%s was repeated %d times in all: too few to mean anything", method, repeated[method])
		}
	}
}

// breaks says which part of the rule a call broke.
func breaks(method string, done []doing, outcome tools.Outcome) string {
	idempotent := method == "GET" || method == "PUT" || method == "DELETE"
	if len(done) == 0 || len(done) > outcome.Attempts || outcome.Attempts > 3 {
		return fmt.Sprintf("%d requests arrived", len(done))
	}
	for i, d := range done {
		last := i == len(done)-1
		again := d.invites() || idempotent && d.passes()
		switch {
		case !last && !again:
			return fmt.Sprintf("it was sent again after %v", d)
		case last && again && outcome.Attempts < 3:
			return fmt.Sprintf("it was not sent again after %v", d)
		case last && (outcome.Error == nil) != (d.status >= 200 && d.status < 300):
			return fmt.Sprintf("the outcome is not that of %v", d)
		}
	}
	return ""
}
