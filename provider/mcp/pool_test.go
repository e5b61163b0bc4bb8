package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/test/fake/mcpserver"
)

// TestTooMuchForOne has a server answer too much to one of two calls that run at once: the other
// call gets its answer.
func TestTooMuchForOne(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]*mcpserver.Server{"Streamable": mcpserver.New(t), "Older": mcpserver.NewSSE(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, goOn := make(chan struct{}), make(chan struct{})
			server.Tool("slow", "", anything, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				close(begun)
				<-goOn
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
			})
			server.Tool("big", "", anything, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", 20<<20)}}}, nil
			})
			client := newClient(t, mcp.Options{})
			var slow sync.WaitGroup
			slow.Go(func() {
				if result, err := client.Call(t.Context(), "key", endpoint(server), params("slow", `{}`)); err != nil || result.Text != "done" {
					t.Errorf("the other call: %+v, %v", result, err)
				}
			})
			<-begun
			_, err := client.Call(t.Context(), "key", endpoint(server), params("big", `{}`))
			close(goOn)
			wantKind(t, err, mcp.TooLarge)
			slow.Wait()
		})
	}
}

// TestPool uses a session for one call after the other, has one for each of many that run at once,
// keeps a few of them, and ends what is idle.
func TestPool(t *testing.T) {
	t.Parallel()
	server := mcpserver.New(t)
	var running sync.WaitGroup
	running.Add(20)
	server.Tool("together", "", anything, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		running.Done()
		running.Wait() // until all 20 run
		return &sdk.CallToolResult{}, nil
	})
	server.Tool("echo", "", anything, mcpserver.Echo)
	client := newClient(t, mcp.Options{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := client.Call(t.Context(), "key", endpoint(server), params("together", `{}`)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for range 20 {
		call(t, client, server, params("echo", `{}`))
	}
	if n := server.Count("initialize"); n != 20 {
		t.Errorf("%d sessions were opened, want 20", n)
	}
	if n := client.Sessions(); n != 8 {
		t.Errorf("%d sessions were kept, want 8", n)
	}
	client = newClient(t, mcp.Options{Idle: 30 * time.Millisecond})
	call(t, client, server, params("echo", `{}`))
	for deadline := time.Now().Add(time.Minute); client.Sessions() > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the session does not end")
		}
	}
	client.Close()
	if last := server.Requests()[len(server.Requests())-1]; last.HTTPMethod != http.MethodDelete {
		t.Errorf("the server was not told: last %s %s", last.HTTPMethod, last.Method)
	}
}
