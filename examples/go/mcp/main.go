// Command mcp gives an agent the tools of an MCP server. The agent is the MCP client: Parlance
// lists the server's tools, shows them to the model, and calls them. The server is in this
// program.
//
//	. ~/.local/share/parlance/dev.env   # of a running `parlance dev`
//	export PARLANCE_BASE_URL PARLANCE_API_KEY PARLANCE_WORKSPACE_ID
//	go run ./examples/go/mcp
//
// The question names the tool in the way that the built-in responder of `parlance dev --model none`
// understands; a language model takes a plain question (-ask "What should I prepare?").
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
)

func main() {
	ask := flag.String("ask", `/tool preparation {"treatment": "blood test"}`, "what to ask the agent")
	flag.Parse()
	if err := run(context.Background(), *ask); err != nil {
		log.Fatal("mcp: ", err)
	}
}

func run(ctx context.Context, ask string) (err error) {
	client, err := parlance.New(parlance.Options{})
	if err != nil {
		return err
	}
	url, err := serve(preparations())
	if err != nil {
		return err
	}
	workspace := os.Getenv("PARLANCE_WORKSPACE_ID")
	offered, err := client.Tools.DiscoverMcpTools(ctx, &parlancev1.DiscoverMcpToolsRequest{WorkspaceId: workspace, McpServerUrl: url})
	if err != nil {
		return fmt.Errorf("look at the MCP server: %w", err)
	}
	for _, tool := range offered.GetTools() {
		fmt.Printf("offered  %s: %s\n", tool.GetName(), tool.GetDescription())
	}
	agent, err := client.Agents.CreateAgent(ctx, &parlancev1.CreateAgentRequest{WorkspaceId: workspace, Name: "Practice"})
	if err != nil {
		return fmt.Errorf("make the agent: %w", err)
	}
	tool, err := client.Tools.CreateTool(ctx, &parlancev1.CreateToolRequest{
		WorkspaceId: workspace, Slug: "preparation", Kind: "mcp", McpServerUrl: url, McpToolName: "preparation",
		Description: "Says what to prepare for a treatment.",
	})
	if err != nil {
		return fmt.Errorf("make the tool: %w", err)
	}
	defer func() {
		_, toolErr := client.Tools.DeleteTool(ctx, &parlancev1.DeleteToolRequest{WorkspaceId: workspace, ToolId: tool.GetId()})
		_, agentErr := client.Agents.DeleteAgent(ctx, &parlancev1.DeleteAgentRequest{WorkspaceId: workspace, AgentId: agent.GetId()})
		err = errors.Join(err, toolErr, agentErr)
	}()
	enabled := true
	if _, err := client.Tools.AttachTool(ctx, &parlancev1.AttachToolRequest{
		WorkspaceId: workspace, AgentId: agent.GetId(), ToolId: tool.GetId(), Enabled: &enabled,
	}); err != nil {
		return fmt.Errorf("attach the tool: %w", err)
	}
	return talk(ctx, client, agent.GetId(), ask)
}

// talk asks the agent once and shows what it calls and says.
func talk(ctx context.Context, client *parlance.Client, agent, ask string) error {
	session, err := client.Sessions.CreateSession(ctx, &parlancev1.CreateSessionRequest{AgentId: agent, UserId: "ann", Modality: "text"})
	if err != nil {
		return fmt.Errorf("begin a session: %w", err)
	}
	for event, err := range client.StreamTurn(ctx, &parlancev1.StreamTurnRequest{SessionId: session.GetId(), Text: ask}) {
		if err != nil {
			return fmt.Errorf("ask: %w", err)
		}
		switch event := event.GetEvent().(type) {
		case *parlancev1.StreamTurnResponse_ToolCalled:
			call := event.ToolCalled.GetCall()
			fmt.Printf("called   %s %s\n", call.GetSlug(), call.GetInputJson())
		case *parlancev1.StreamTurnResponse_TextDelta:
			fmt.Print(event.TextDelta.GetText())
		}
	}
	fmt.Println()
	_, err = client.Sessions.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: session.GetId(), Status: "completed"})
	return err
}

// preparations is an MCP server over Streamable HTTP with one tool.
func preparations() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "preparations", Version: "1.0.0"}, nil)
	type question struct {
		Treatment string `json:"treatment" jsonschema:"the treatment, e.g. blood test"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "preparation", Description: "Says what to prepare for a treatment."},
		func(_ context.Context, _ *mcp.CallToolRequest, q question) (*mcp.CallToolResult, any, error) {
			words := "Come without breakfast for a " + q.Treatment + "; water is fine."
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}, nil, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// serve runs a handler on a free port of this machine and returns its URL.
func serve(handler http.Handler) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with the program
	return "http://" + listener.Addr().String(), nil
}
