package tools

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// pageSize is the page size of lists.
const pageSize = 200

// New makes the command.
func New(version string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tools", Short: "Make tools of an API, try them, and see what agents did with them", GroupID: "use", Args: command.ExactArgs(),
		Long: `Tools are what agents do: each calls an endpoint of yours, or a server of MCP tools. Without flags the
commands work on the parlance dev of this machine. A tool is named by its slug, or by its id.`,
		Example: `  parlance tools add --from-openapi https://api.example.org/openapi.json --auth-header @token.txt --attach default
  parlance tools run get_order --arg order_id=A-7
  parlance tools traces --status failed --since 24h`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAdd(version), newList(), newShow(), newRun(), newTraces(),
		newAttach(), newDetach(), newRemove())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// toolbox is what the commands share.
type toolbox struct {
	client.Caller
	tools parlancev1connect.ToolServiceClient
}

// withTools makes the RunE of a command.
func withTools(run func(ctx context.Context, b *toolbox, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *toolbox {
		return &toolbox{Caller: c, tools: parlancev1connect.NewToolServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

// catalog lists the tools of the workspace that o selects, those of the service included.
func (b *toolbox) catalog(ctx context.Context, o client.SearchOptions) ([]*parlancev1.Tool, error) {
	return command.All(func(token string) ([]*parlancev1.Tool, string, error) {
		page, err := b.tools.ListTools(ctx, &parlancev1.ListToolsRequest{
			WorkspaceId: b.WorkspaceID, IncludeHidden: true, PageSize: pageSize, PageToken: token, Q: o.Query, OrderBy: o.OrderBy,
		})
		if err != nil {
			return nil, "", b.Explain("list the tools", err)
		}
		return page.GetTools(), page.GetNextPageToken(), nil
	})
}

// toolID matches the id of a custom tool.
var toolID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// find finds tools by slug or id.
func (b *toolbox) find(ctx context.Context, named ...string) ([]*parlancev1.Tool, error) {
	var all []*parlancev1.Tool
	found := make([]*parlancev1.Tool, len(named))
	for i, name := range named {
		if toolID.MatchString(name) || strings.ContainsRune(name, ':') {
			tool, err := b.tools.GetTool(ctx, &parlancev1.GetToolRequest{WorkspaceId: b.WorkspaceID, ToolId: name})
			if err == nil {
				found[i] = tool
				continue
			}
			if connect.CodeOf(err) != connect.CodeNotFound {
				return nil, b.Explain("find the tool", err)
			}
		}
		if all == nil {
			var err error
			if all, err = b.catalog(ctx, client.SearchOptions{}); err != nil {
				return nil, err
			}
		}
		for _, tool := range all { // custom tools come last; their slugs are unique
			if strings.EqualFold(tool.GetSlug(), name) {
				found[i] = tool
			}
		}
		if found[i] == nil {
			return nil, fmt.Errorf("there is no tool %q in the workspace; `parlance tools ls` lists them", name)
		}
	}
	return found, nil
}
