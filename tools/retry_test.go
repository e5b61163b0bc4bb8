package tools_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/port"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// TestRetries counts what arrives at an endpoint that fails twice, or for ever.
func TestRetries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	wait := map[string]string{"Retry-After": "0"}
	ok := httptool.Step{Body: "ok"}
	rows := []struct {
		method   string
		name     string
		steps    []httptool.Step
		attempts int
		code     tools.Code
	}{
		{"GET", "two resets", []httptool.Step{{Reset: true}, {Reset: true}, ok}, 3, ""},
		{"PUT", "two resets", []httptool.Step{{Reset: true}, {Reset: true}, ok}, 3, ""},
		{"DELETE", "two resets", []httptool.Step{{Reset: true}, {Reset: true}, ok}, 3, ""},
		{"GET", "resets for ever", []httptool.Step{{Reset: true}}, 3, failure.ConnectionFailed},
		{"GET", "a broken-off answer", []httptool.Step{{BreakOff: true, Body: "half"}, ok}, 2, ""},
		{"POST", "a reset", []httptool.Step{{Reset: true}, ok}, 1, failure.ConnectionFailed},
		{"PATCH", "a reset", []httptool.Step{{Reset: true}, ok}, 1, failure.ConnectionFailed},
		{"POST", "a broken-off answer", []httptool.Step{{BreakOff: true, Body: "half"}, ok}, 1, failure.ConnectionFailed},
		{"POST", "503", []httptool.Step{{Status: 503}, ok}, 1, failure.HTTPStatus},
		{"POST", "503 with Retry-After", []httptool.Step{{Status: 503, Header: wait}, ok}, 2, ""},
		{"PATCH", "429 with Retry-After", []httptool.Step{{Status: 429, Header: wait}, ok}, 2, ""},
		{"POST", "502 with Retry-After", []httptool.Step{{Status: 502, Header: wait}, ok}, 1, failure.HTTPStatus},
		{"POST", "429 for ever", []httptool.Step{{Status: 429, Header: wait}}, 3, failure.HTTPStatus},
		{
			"GET", "Retry-After beyond the budget",
			[]httptool.Step{{Status: 503, Header: map[string]string{"Retry-After": "600"}}, ok},
			1,
			failure.HTTPStatus,
		},
		{"GET", "500", []httptool.Step{{Status: 500}, ok}, 1, failure.HTTPStatus},
		{"GET", "404", []httptool.Step{{Status: 404}, ok}, 1, failure.HTTPStatus},
	}
	for _, status := range []int{408, 425, 429, 502, 503, 504} {
		rows = append(rows, rows[0])
		last := &rows[len(rows)-1]
		last.name, last.steps, last.attempts = fmt.Sprint(status), []httptool.Step{{Status: status}, ok}, 2
	}
	for i, row := range rows {
		t.Run(row.method+" "+row.name, func(t *testing.T) {
			// A server of its own, so that no breaker and no idle connection is shared between rows.
			endpoint := httptool.New(t)
			endpoint.Script("/x", row.steps...)
			params := f.orderParams("")
			params.Slug, params.Config.Method, params.Config.WebhookURL = fmt.Sprint("retry", i), row.method, endpoint.URL+"/x"
			outcome := f.call(t, f.attached(t, f.create(t, params), 1), `{}`, nil)
			requests := endpoint.Requests("/x")
			if len(requests) != row.attempts || outcome.Attempts != row.attempts {
				t.Errorf("%d requests arrived, %d attempts are told, want %d", len(requests), outcome.Attempts, row.attempts)
			}
			if (row.code == "") != (outcome.Error == nil) || outcome.Error != nil && outcome.Error.Code != row.code {
				t.Errorf("got %+v, want %q", outcome.Error, row.code)
			}
			unclear := row.code == failure.ConnectionFailed && row.method != "GET" // it was received, and may have been done
			if outcome.Error != nil && strings.Contains(outcome.Error.Message, "whether it took effect is not known") != unclear {
				t.Errorf("the model is told %q", outcome.Error.Message)
			}
			for _, r := range requests {
				if r.Header.Get("Idempotency-Key") != outcome.CallID {
					t.Errorf("an attempt has the key %q, the call is %s", r.Header.Get("Idempotency-Key"), outcome.CallID)
				}
			}
		})
	}
}

// TestPostIsNotRepeatedOnAnIdleConnection answers one POST on a connection, takes a second one
// on the same and closes it: net/http would send that again by itself if it took the
// Idempotency-Key for permission.
func TestPostIsNotRepeatedOnAnIdleConnection(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, method := range []string{"POST", "PATCH"} {
		server := newClosingServer(t, 1)
		params := f.orderParams("")
		params.Slug, params.Config.Method, params.Config.WebhookURL = "idle_"+method, method, server.url
		entry := f.attached(t, f.create(t, params), 0)
		if outcome := f.call(t, entry, `{}`, nil); outcome.Error != nil {
			t.Fatalf("the first call: %+v", outcome.Error)
		}
		outcome := f.call(t, entry, `{}`, nil)
		if outcome.Error == nil || outcome.Error.Code != failure.ConnectionFailed || server.requests.Load() != 2 ||
			server.connections.Load() != 1 {
			t.Errorf(
				"%s: got %+v, %d requests on %d connections, want 2 on 1", method, outcome.Error, server.requests.Load(), server.connections.Load(),
			)
		}
	}
}

// TestAttemptsOnIdleConnections calls with several kept connections that all close instead of
// answering: each attempt is one request.
func TestAttemptsOnIdleConnections(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		for _, row := range []struct {
			maxAttempts int
			code        tools.Code
		}{{1, failure.ConnectionFailed}, {2, ""}} {
			server := newClosingServer(t, 4)
			params := f.orderParams("")
			params.Slug, params.Config.Method, params.Config.WebhookURL = fmt.Sprint("idle_", method, row.maxAttempts), method, server.url
			params.Config.Retry = &tools.Retry{MaxAttempts: row.maxAttempts}
			entry := f.attached(t, f.create(t, params), 0)
			var warm sync.WaitGroup
			for range 4 {
				warm.Go(func() {
					if outcome := f.call(t, entry, `{}`, nil); outcome.Error != nil {
						t.Errorf("a first call: %+v", outcome.Error)
					}
				})
			}
			warm.Wait()
			outcome := f.call(t, entry, `{}`, nil)
			var code tools.Code
			if outcome.Error != nil {
				code = outcome.Error.Code
			}
			if n := int(server.requests.Load()) - 4; code != row.code || n != row.maxAttempts || outcome.Attempts != n {
				t.Errorf("%s, at most %d: %d requests, %d told, %q", method, row.maxAttempts, n, outcome.Attempts, code)
			}
		}
	}
}

// closingServer answers the first request of each connection and closes it on the second. It holds
// its answers until the first atOnce requests are there.
type closingServer struct {
	url                   string
	requests, connections atomic.Int32
	atOnce                int32
	allThere              chan struct{}
}

func newClosingServer(t *testing.T, atOnce int32) *closingServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &closingServer{url: "http://" + listener.Addr().String() + "/", atOnce: atOnce, allThere: make(chan struct{})}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			context.AfterFunc(t.Context(), func() { _ = conn.Close() })
			wait.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); wait.Wait() })
	return s
}

func (s *closingServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	for answered := range 2 {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		if s.requests.Add(1) == s.atOnce {
			close(s.allThere)
		}
		if answered == 0 {
			<-s.allThere
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}
}

// TestPostIsRepeatedWhenNothingWasSent calls a port where nobody listens.
func TestPostIsRepeatedWhenNothingWasSent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	params := f.orderParams("")
	params.Config.WebhookURL = "http://" + port.Reserve(t) + "/"
	outcome := f.call(t, f.attached(t, f.create(t, params), 0), `{}`, nil)
	if outcome.Error == nil || outcome.Error.Code != failure.ConnectionFailed || outcome.Attempts != 3 ||
		!strings.Contains(outcome.Error.Message, "refused") {
		t.Errorf("got %+v after %d attempts", outcome.Error, outcome.Attempts)
	}
}

// TestNotPublic stores a name that resolves to an address tenants may not reach.
func TestNotPublic(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	params := f.orderParams("")
	params.Config.WebhookURL, params.Config.Method = "http://10.1.2.3/", "GET"
	if _, err := f.Create(t.Context(), f.ref, params); err == nil {
		t.Fatal("a private address is accepted")
	}
	tool := f.create(t, f.orderParams("/x"))
	// As a name would, the stored URL leads elsewhere when it is called.
	_, err := f.db.ExecContext(
		t.Context(), `UPDATE tools SET config = jsonb_set(config, '{webhook_url}', '"http://10.1.2.3/"') WHERE id = ?`, tool.ID,
	)
	if err != nil {
		t.Fatal(err)
	}
	outcome := f.call(t, f.attached(t, tool, 0), `{}`, nil)
	if outcome.Error == nil || outcome.Error.Code != failure.NotPublic || outcome.Attempts != 1 ||
		strings.Contains(outcome.Error.Message, "10.1") {
		t.Errorf("got %+v after %d attempts", outcome.Error, outcome.Attempts)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.endpoint.Script("/slow", httptool.Step{Hold: true})
	params := f.orderParams("/slow")
	params.Config.Method, params.Config.TimeoutSeconds = "GET", 3
	entry := f.attached(t, f.create(t, params), 0)
	outcome := f.call(t, entry, `{}`, nil)
	if outcome.Error == nil || outcome.Error.Code != failure.Timeout || outcome.Latency < 3*time.Second ||
		outcome.Latency > 30*time.Second || outcome.Attempts != 1 {
		t.Errorf("got %+v after %s and %d attempts", outcome.Error, outcome.Latency, outcome.Attempts)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan tools.Outcome, 1)
	go func() { done <- f.Call(ctx, tools.CallParams{Ref: f.ref, SessionID: "ses_1", Entry: entry}) }()
	for len(f.endpoint.Requests("/slow")) < 2 {
		select {
		case outcome := <-done:
			t.Fatalf("the call ended by itself: %+v", outcome.Error)
		default:
		}
	}
	cancel()
	if outcome := <-done; outcome.Error == nil || outcome.Error.Code != failure.Canceled {
		t.Errorf("got %+v", outcome.Error)
	}
	var traced int
	err := f.db.NewRaw("SELECT count(*) FROM tool_calls WHERE error_code = 'canceled'").Scan(t.Context(), &traced)
	if err != nil || traced != 1 {
		t.Errorf("%d traces of the cancelled call, %v", traced, err)
	}
}
