package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/test/fake/mcpserver"
)

const anything = `{"type":"object"}`

func newClient(t *testing.T, o mcp.Options, cidrs ...string) *mcp.Client {
	t.Helper()
	if cidrs == nil {
		cidrs = []string{"127.0.0.0/8"}
	}
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: cidrs})
	if err != nil {
		t.Fatal(err)
	}
	o.HTTP = guard.Client(publicnet.ClientOptions{})
	client := mcp.New(o)
	t.Cleanup(client.Close)
	return client
}

func endpoint(s *mcpserver.Server) mcp.Endpoint {
	return mcp.Endpoint{URL: s.URL, MaxAnswerBytes: 64 << 10, Headers: map[string]string{"Authorization": "Bearer key", "X-Shop": "7"}}
}

func params(tool, arguments string) mcp.CallParams {
	return mcp.CallParams{Tool: tool, Arguments: json.RawMessage(arguments), ID: "call_1", Timeout: time.Minute, MaxTime: time.Minute}
}

func call(t *testing.T, c *mcp.Client, s *mcpserver.Server, p mcp.CallParams) mcp.Result {
	t.Helper()
	result, err := c.Call(t.Context(), "key", endpoint(s), p)
	if err != nil {
		t.Fatalf("call of %s: %v", p.Tool, err)
	}
	return result
}

// callSoon calls echo until the client has noticed that its connections are gone: a call that it
// writes into one that the server has just closed may have arrived, and is not sent again.
func callSoon(t *testing.T, c *mcp.Client, s *mcpserver.Server) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		_, err := c.Call(t.Context(), "key", endpoint(s), params("echo", `{}`))
		if err == nil {
			return
		}
		if failed := wantKind(t, err, mcp.Unreachable); !failed.Sent || time.Now().After(deadline) {
			t.Fatalf("got %+v", failed)
		}
	}
}

func wantKind(t *testing.T, err error, kind mcp.Kind) *mcp.Error {
	t.Helper()
	failed, ok := errors.AsType[*mcp.Error](err)
	if !ok || failed.Kind != kind {
		t.Fatalf("got %#v, want kind %s", err, kind)
	}
	return failed
}

// TestBothTransports lists and calls over each transport, on one session, with the operator's
// headers.
func TestBothTransports(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]*mcpserver.Server{"Streamable": mcpserver.New(t), "Older": mcpserver.NewSSE(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server.Tool("echo", "Says it again.", `{"type":"object","properties":{"n":{"type":"integer"}}}`, mcpserver.Echo)
			client := newClient(t, mcp.Options{})
			list, err := client.List(t.Context(), "key", endpoint(server))
			if err != nil || len(list) != 1 || list[0].Name != "echo" || list[0].Description != "Says it again." ||
				!strings.Contains(string(list[0].InputSchema), `"integer"`) {
				t.Fatalf("list: %+v, %v", list, err)
			}
			for range 3 {
				if got := call(t, client, server, params("echo", `{"n":7}`)); got.Text != `{"n":7}` || got.IsError || got.Attempts != 1 {
					t.Errorf("got %+v", got)
				}
			}
			opened := server.Count("initialize")
			if want := map[string]int{"Streamable": 1, "Older": 2}[name]; opened != want { // a refused POST first
				t.Errorf("%d times initialized, want %d", opened, want)
			}
			for _, r := range server.Requests() {
				if r.Header.Get("Authorization") != "Bearer key" || r.Header.Get("X-Shop") != "7" {
					t.Errorf("%s %s without the operator's headers", r.HTTPMethod, r.Method)
				}
			}
		})
	}
}

// TestForgottenSession has the server forget the session between two calls, and answer each call
// with 404 afterwards: once it is opened again, never twice.
func TestForgottenSession(t *testing.T) {
	t.Parallel()
	server := mcpserver.New(t)
	server.Tool("echo", "", anything, mcpserver.Echo)
	client := newClient(t, mcp.Options{})
	call(t, client, server, params("echo", `{}`))
	server.Forget()
	if got := call(t, client, server, params("echo", `{"again":true}`)); got.Text != `{"again":true}` || got.Attempts != 2 {
		t.Errorf("got %+v", got)
	}
	if n := server.Count("initialize"); n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
	server.Answer("tools/call", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest) // as the reference server says it
		fmt.Fprint(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
	})
	_, err := client.Call(t.Context(), "key", endpoint(server), params("echo", `{}`))
	if failed := wantKind(t, err, mcp.Status); failed.Status != http.StatusBadRequest {
		t.Errorf("got %+v", failed)
	}
	if n := server.Count("initialize"); n != 3 {
		t.Errorf("%d sessions, want 3", n)
	}
	before := server.Count("tools/call")
	server.Answer("tools/call", http.NotFound)
	_, err = client.Call(t.Context(), "key", endpoint(server), params("echo", `{}`))
	if failed := wantKind(t, err, mcp.Status); failed.Status != http.StatusNotFound {
		t.Errorf("got %+v", failed)
	}
	if n := server.Count("tools/call") - before; n != 2 {
		t.Errorf("sent %d times, want 2", n)
	}
}

// TestBrokenConnections breaks all connections between two calls, and then within one: the first is
// nothing to a caller, and the second is not sent again, because the tool may have run.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]*mcpserver.Server{"Streamable": mcpserver.New(t), "Older": mcpserver.NewSSE(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server.Tool("echo", "", anything, mcpserver.Echo)
			server.Tool("break", "", anything, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				go server.Break()
				<-t.Context().Done() // the server's own context does not end with the connection
				return nil, t.Context().Err()
			})
			client := newClient(t, mcp.Options{})
			call(t, client, server, params("echo", `{}`))
			server.Break()
			callSoon(t, client, server)
			_, err := client.Call(t.Context(), "key", endpoint(server), params("break", `{}`))
			if failed := wantKind(t, err, mcp.Unreachable); !failed.Sent {
				t.Errorf("got %+v", failed)
			}
			sent := 0
			for _, r := range server.Requests() {
				if strings.Contains(r.Body, `"break"`) {
					sent++
				}
			}
			if sent != 1 {
				t.Errorf("sent %d times, want once", sent)
			}
			callSoon(t, client, server)
		})
	}
}

// TestSilence has servers that answer nothing, at each step.
func TestSilence(t *testing.T) {
	t.Parallel()
	t.Run("Call", func(t *testing.T) {
		t.Parallel()
		server := mcpserver.New(t)
		server.Tool("hang", "", anything, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			<-t.Context().Done()
			return nil, t.Context().Err()
		})
		p := params("hang", `{}`)
		p.Timeout = 3 * time.Second // for the call to be sent
		_, err := newClient(t, mcp.Options{}).Call(t.Context(), "key", endpoint(server), p)
		if failed := wantKind(t, err, mcp.Timeout); !failed.Sent {
			t.Errorf("got %+v", failed)
		}
	})
	t.Run("Stream", func(t *testing.T) {
		t.Parallel()
		server := mcpserver.New(t)
		server.Tool("echo", "", anything, mcpserver.Echo)
		server.Answer("GET", mcpserver.Hang) // the SDK alone waits for it for ever
		call(t, newClient(t, mcp.Options{}), server, params("echo", `{}`))
	})
	t.Run("Caller", func(t *testing.T) {
		t.Parallel()
		server := mcpserver.New(t)
		server.Answer("initialize", mcpserver.Hang)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := newClient(t, mcp.Options{}).List(ctx, "key", endpoint(server))
		wantKind(t, err, mcp.Timeout)
	})
}

// TestProgress has a tool take longer than its time-out while it reports progress, and one that
// would report for ever.
func TestProgress(t *testing.T) {
	t.Parallel()
	server := mcpserver.New(t)
	work := func(steps int) mcpserver.Handler {
		return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			tick := time.NewTicker(40 * time.Millisecond)
			defer tick.Stop()
			for i := range steps {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-tick.C:
				}
				if err := r.Session.NotifyProgress(
					ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)},
				); err != nil {
					return nil, err
				}
			}
			return mcpserver.Text("done")(ctx, r)
		}
	}
	server.Tool("long", "", anything, work(150))
	server.Tool("endless", "", anything, work(1<<30))
	client := newClient(t, mcp.Options{})
	p := params("long", `{}`)
	p.Timeout = 4 * time.Second // it takes 6 s
	if got := call(t, client, server, p); got.Text != "done" {
		t.Errorf("got %+v", got)
	}
	p = params("endless", `{}`)
	p.MaxTime = 300 * time.Millisecond
	_, err := client.Call(t.Context(), "key", endpoint(server), p)
	wantKind(t, err, mcp.Timeout)
}

// TestContent has each kind of content become something a model can read.
func TestContent(t *testing.T) {
	t.Parallel()
	server := mcpserver.New(t)
	answers := map[string]struct {
		result *sdk.CallToolResult
		want   string
	}{
		"texts":      {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "one"}, &sdk.TextContent{Text: "two"}}}, "one\ntwo"},
		"structured": {&sdk.CallToolResult{StructuredContent: json.RawMessage(`{"a": 1}`)}, `{"a":1}`},
		"repeated": {
			&sdk.CallToolResult{StructuredContent: json.RawMessage(`{"a":1}`), Content: []sdk.Content{&sdk.TextContent{Text: `{ "a": 1 }`}}},
			`{ "a": 1 }`,
		},
		"image": {
			&sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: []byte("12345")}}},
			"[image: image/png, 5 bytes; it cannot be shown as text]",
		},
		"audio": {
			&sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("123")}}},
			"[audio: audio/wav, 3 bytes; it cannot be shown as text]",
		},
		"link": {
			&sdk.CallToolResult{Content: []sdk.Content{&sdk.ResourceLink{URI: "file:///a.txt", Name: "a.txt", MIMEType: "text/plain"}}},
			"[resource: a.txt, text/plain, file:///a.txt]",
		},
		"embedded": {
			&sdk.CallToolResult{
				Content: []sdk.Content{
					&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a.txt", MIMEType: "text/plain", Text: "inside"}},
				},
			},
			"[resource: text/plain, file:///a.txt]\ninside",
		},
		"empty": {&sdk.CallToolResult{Content: []sdk.Content{}}, ""},
		"long": {
			&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("ä", 64<<10)}}},
			strings.Repeat("ä", 32<<10) + "\n[cut: the answer is longer than 65536 bytes]",
		},
	}
	for name, answer := range answers {
		server.Tool(name, "", anything, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return answer.result, nil })
	}
	client := newClient(t, mcp.Options{})
	for name, answer := range answers {
		if got := call(t, client, server, params(name, `{}`)); got.Text != answer.want || got.IsError {
			t.Errorf("%s: got %.200q, want %.200q", name, got.Text, answer.want)
		}
	}
}

// TestRefusals tells a tool's own failure from the server's.
func TestRefusals(t *testing.T) {
	t.Parallel()
	server := mcpserver.New(t)
	server.Tool("fails", "", anything, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such customer"}}}, nil
	})
	client := newClient(t, mcp.Options{})
	if got := call(t, client, server, params("fails", `{}`)); !got.IsError || got.Text != "no such customer" {
		t.Errorf("got %+v", got)
	}
	_, err := client.Call(t.Context(), "key", endpoint(server), params("absent", `{}`))
	if failed := wantKind(t, err, mcp.Refused); !strings.Contains(failed.Message, "absent") {
		t.Errorf("got %+v", failed)
	}
	for _, status := range []int{401, 403, 429, 500, 503} {
		server.Answer("tools/call", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", status) })
		before := server.Count("tools/call")
		_, err := client.Call(t.Context(), "key", endpoint(server), params("fails", `{}`))
		if failed := wantKind(t, err, mcp.Status); failed.Status != status {
			t.Errorf("%d: got %+v", status, failed)
		}
		if n := server.Count("tools/call") - before; n != 1 {
			t.Errorf("%d: sent %d times", status, n)
		}
	}
	closed := mcpserver.New(t)
	closed.Answer("initialize", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who?", http.StatusUnauthorized) })
	_, err = client.List(t.Context(), "closed", endpoint(closed))
	if failed := wantKind(t, err, mcp.Status); failed.Status != http.StatusUnauthorized || len(closed.Requests()) != 1 {
		t.Errorf("got %+v after %d requests", failed, len(closed.Requests()))
	}
}

// TestTooMuch has a server send more than the bounds allow, in each form of answer.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	flood := func(begin string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[begin != "{"])
			piece := strings.Repeat("x", 1<<16)
			for _, err := fmt.Fprint(w, begin, `"jsonrpc":"2.0","x":"`); err == nil && r.Context().Err() == nil; {
				_, err = fmt.Fprint(w, piece)
				if begin == ": notes\n" {
					_, err = fmt.Fprint(w, "\n\n: more")
				}
			}
		}
	}
	for name, begin := range map[string]string{"JSON": "{", "Event": "data: {", "Stream": ": notes\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mcpserver.New(t)
			server.Tool("echo", "", anything, mcpserver.Echo)
			client := newClient(t, mcp.Options{})
			call(t, client, server, params("echo", `{}`))
			server.Answer("tools/call", flood(begin))
			_, err := client.Call(t.Context(), "key", endpoint(server), params("echo", `{}`))
			wantKind(t, err, mcp.TooLarge)
			server.Answer("tools/call", nil)
			call(t, client, server, params("echo", `{}`))
		})
	}
}

// TestOtherOrigin has a server of the older transport name an endpoint elsewhere: nothing is sent
// there.
func TestOtherOrigin(t *testing.T) {
	t.Parallel()
	elsewhere := mcpserver.New(t)
	server := mcpserver.NewSSE(t)
	server.Answer("GET", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", elsewhere.URL)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	_, err := newClient(t, mcp.Options{}).List(t.Context(), "key", endpoint(server))
	wantKind(t, err, mcp.OtherOrigin)
	if n := len(elsewhere.Requests()); n != 0 {
		t.Errorf("%d requests to the other origin", n)
	}
}

// TestGuard has a server at an address that is not opened, and one that does not listen.
func TestGuard(t *testing.T) {
	t.Parallel()
	server := mcpserver.New(t)
	_, err := newClient(t, mcp.Options{}, "10.0.0.0/8").List(t.Context(), "key", endpoint(server))
	wantKind(t, err, mcp.NotPublic)
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	_, err = newClient(t, mcp.Options{}).Call(
		t.Context(), "key", mcp.Endpoint{URL: "http://127.0.0.1:9/secret-path", MaxAnswerBytes: 1024}, params("x", `{}`),
	)
	failed := wantKind(t, err, mcp.Unreachable)
	if failed.Sent || strings.Contains(failed.Error(), "secret-path") {
		t.Errorf("got %+v", failed)
	}
}

// TestChanged is told when the server's tools change.
func TestChanged(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]*mcpserver.Server{"Streamable": mcpserver.New(t), "Older": mcpserver.NewSSE(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := make(chan string, 100)
			client := newClient(t, mcp.Options{Changed: func(key string) { changed <- key }})
			if _, err := client.List(t.Context(), "key", endpoint(server)); err != nil {
				t.Fatal(err)
			}
			server.Tool("new", "", anything, mcpserver.Echo)
			if key := <-changed; key != "key" {
				t.Errorf("got %q", key)
			}
		})
	}
}
