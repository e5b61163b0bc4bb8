package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// listOptions are the flags of `parlance tools ls`.
type listOptions struct {
	agent     string
	search    client.SearchOptions
	all, json bool
}

func newList() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the tools, or those that an agent has", Args: command.ExactArgs(),
		Long: `Lists the workspace's tools: custom ones, and with --all those of the service too. With --agent it lists
what that agent's model sees, in its order, with why a tool is off.`,
		Example: `  parlance tools ls
  parlance tools ls --query order --order-by name
  parlance tools ls --agent default
  parlance tools ls --json | jq -r 'select(.auth_header_set | not) | .slug'`,
		RunE: withTools(func(ctx context.Context, b *toolbox, _ []string) error {
			if o.agent != "" && o.search != (client.SearchOptions{}) {
				return command.Usagef("--query and --order-by do not go with --agent, which lists the tools in the order of its model")
			}
			if o.agent != "" {
				return b.listAgent(ctx, o)
			}
			return b.list(ctx, o)
		}),
	}
	cmd.Flags().StringVar(&o.agent, "agent", "", "list the tools of this agent, agt_…; default: that of "+command.EnvAgent)
	o.search.Add(cmd.Flags(), "slug or description")
	cmd.Flags().BoolVar(&o.all, "all", false, "list the tools of the service too")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each")
	return cmd
}

func (b *toolbox) list(ctx context.Context, o listOptions) error {
	all, err := b.catalog(ctx, o.search)
	if err != nil {
		return err
	}
	rows := [][]term.Cell{}
	for _, tool := range all {
		switch {
		case tool.GetBucket() != "custom" && !o.all:
		case o.json:
			if err := b.PrintMessage(tool); err != nil {
				return err
			}
		default:
			rows = append(rows, []term.Cell{
				{Text: term.Clean(tool.GetSlug())},
				{Text: kindWords(tool)},
				{Text: callWords(tool)},
				{Text: authWords(tool)},
				{Text: tool.GetId(), Paint: b.Screen.Dim},
			})
		}
	}
	switch {
	case o.json:
	case len(rows) == 0 && o.search.Query != "":
		b.Line("There is no such tool.")
	case len(rows) == 0:
		b.Line("The workspace has no tools. Make some: parlance tools add --from-openapi URL|FILE")
	default:
		b.Screen.Draw(b.Screen.Table([]term.Column{
			{Title: "TOOL"},
			{Title: "KIND"},
			{Title: "CALLS", Shrinks: true},
			{Title: "AUTH", Drops: 2},
			{Title: "ID", Drops: 1},
		}, rows), nil)
	}
	return nil
}

// listAgent lists the tools of an agent.
func (b *toolbox) listAgent(ctx context.Context, o listOptions) error {
	agent, err := b.ChooseAgent(o.agent)
	if err != nil {
		return err
	}
	rows := [][]term.Cell{}
	_, _, err = command.Each(0, func(token string) ([]*parlancev1.AgentTool, string, error) {
		page, err := b.tools.ListAgentTools(ctx, &parlancev1.ListAgentToolsRequest{
			WorkspaceId: b.WorkspaceID, AgentId: agent, PageSize: pageSize, PageToken: token,
		})
		if err != nil {
			return nil, "", b.Explain("list the agent's tools", err)
		}
		return page.GetTools(), page.GetNextPageToken(), nil
	}, func(one *parlancev1.AgentTool) error {
		if o.json {
			return b.PrintMessage(one)
		}
		most := ""
		if n := one.GetMaxCallsPerSession(); n > 0 {
			most = fmt.Sprint(n)
		}
		rows = append(rows, []term.Cell{
			{Text: term.Clean(cmp.Or(one.GetName(), one.GetTool().GetSlug()))},
			{Text: kindWords(one.GetTool())},
			b.stateCell(one),
			{Text: most},
			{Text: callWords(one.GetTool())},
		})
		return nil
	})
	if err != nil {
		return err
	}
	if !o.json {
		b.Screen.Draw(b.Screen.Table([]term.Column{
			{Title: "TOOL"},
			{Title: "KIND"},
			{Title: "STATE"},
			{Title: "MOST CALLS", Right: true},
			{Title: "CALLS", Shrinks: true},
		}, rows), nil)
	}
	return nil
}

// stateCell says whether the agent's model sees a tool, or why not.
func (b *toolbox) stateCell(one *parlancev1.AgentTool) term.Cell {
	switch {
	case one.GetEnabled() && one.GetNeedsApproval():
		return term.Cell{Text: "on, asks the client", Paint: b.Screen.Good}
	case one.GetEnabled():
		return term.Cell{Text: "on", Paint: b.Screen.Good}
	}
	why := "off: " + strings.ReplaceAll(one.GetDisabledReason(), "_", " ")
	if detail := one.GetDisabledDetail(); detail != "" {
		why += " (" + detail + ")"
	}
	return term.Cell{Text: term.Clean(why), Paint: b.Screen.Dim}
}

// kindWords is the kind of a custom tool, or the origin of any other.
func kindWords(tool *parlancev1.Tool) string {
	if tool.GetBucket() == "custom" {
		return tool.GetKind()
	}
	return strings.ReplaceAll(tool.GetBucket(), "_", "-")
}

// callWords is the address that a tool calls.
func callWords(tool *parlancev1.Tool) string {
	switch {
	case tool.GetWebhookUrl() != "":
		return term.Clean(tool.GetMethod() + " " + tool.GetWebhookUrl())
	case tool.GetMcpServerUrl() != "":
		return term.Clean(strings.TrimSpace(tool.GetMcpServerUrl() + " " + tool.GetMcpToolName()))
	}
	return ""
}

func authWords(tool *parlancev1.Tool) string {
	if tool.GetAuthHeaderSet() || len(tool.GetSecretHeaderNames()) > 0 {
		return "sealed"
	}
	return ""
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show TOOL", Short: "Show a tool: what it calls, and what a model is told", Args: command.ExactArgs("TOOL"),
		Example: `  parlance tools show get_order
  parlance tools show get_order --json | jq .input_schema`,
		RunE: withTools(func(ctx context.Context, b *toolbox, args []string) error {
			found, err := b.find(ctx, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return b.PrintMessage(found[0])
			}
			b.show(found[0])
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the tool as the API has it")
	return cmd
}

func (b *toolbox) show(tool *parlancev1.Tool) {
	b.Screen.Line("%s  %s", b.Screen.Strong(term.Clean(tool.GetSlug())), b.Screen.Dim(kindWords(tool)+"  "+tool.GetId()))
	for _, line := range strings.Split(tool.GetDescription(), "\n") {
		for _, wrapped := range term.Wrap(term.Clean(line), b.Screen.Columns()-2) {
			b.Screen.Line("  %s", wrapped)
		}
	}
	b.Screen.Line("")
	b.Fact("calls", callWords(tool))
	b.Fact("in the path", strings.Join(tool.GetPathParams(), ", "))
	b.Fact("in the query", strings.Join(tool.GetQueryParams(), ", "))
	b.facts("always in the query", tool.GetHardcodedQueryParams(), "=")
	b.Fact("always in the body", tool.GetHardcodedBodyParamsJson())
	b.facts("headers", tool.GetHeaders(), ": ")
	if tool.GetAuthHeaderSet() {
		b.Fact("authorization", "sealed; it is sent and never shown")
	}
	if names := tool.GetSecretHeaderNames(); len(names) > 0 {
		b.Fact("secret headers", term.Clean(strings.Join(names, ", "))+"; sent and never shown")
	}
	b.Fact("allowed tools", strings.Join(tool.GetAllowedTools(), ", "))
	b.Fact("asks the client", strings.TrimSpace(strings.TrimSuffix(tool.GetApproval(),
		"never")+" "+strings.Join(tool.GetApprovalTools(), ", ")))
	if tool.GetAllowDynamicVars() {
		b.Fact("variables", "{{…}} is filled from the conversation")
	}
	if tool.GetTimeoutSeconds() > 0 {
		b.Fact("time-out", fmt.Sprintf("%d s", tool.GetTimeoutSeconds()))
	}
	b.Screen.Line("\n%s", b.Screen.Dim("arguments"))
	for line := range strings.Lines(term.IndentedJSON(json.RawMessage(tool.GetInputSchemaJson()))) {
		b.Screen.Line("  %s", strings.TrimRight(term.Clean(strings.ReplaceAll(line, "\n", "")), " "))
	}
}

func (b *toolbox) facts(name string, values map[string]string, between string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		b.Fact(name, key+between+values[key])
		name = ""
	}
}
