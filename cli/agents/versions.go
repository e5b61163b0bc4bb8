package agents

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newVersions() *cobra.Command {
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "versions AGENT", Short: "List the versions of an agent, newest first", Args: command.ExactArgs("AGENT"),
		Long: `Each change of an agent makes a version, which never changes. A session runs the version that was the newest
when the session began. parlance agents rollback makes an earlier version the newest again.`,
		Example: `  parlance agents versions default
  parlance agents versions agt_01j… --json | jq 'select(.version == 2) | .agent.instructions'`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			agent, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			return client.List(c, o, client.Listing[*parlancev1.AgentVersion]{
				Pages: func(token string) ([]*parlancev1.AgentVersion, string, error) {
					page, err := c.Agents.ListAgentVersions(ctx, &parlancev1.ListAgentVersionsRequest{
						WorkspaceId: c.WorkspaceID, AgentId: agent.GetId(), PageSize: client.PageSize, PageToken: token,
					})
					if err != nil {
						return nil, "", c.Explain("list the versions", err)
					}
					return page.GetVersions(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "VERSION", Right: true}, {Title: "MADE"}, {Title: "NAME", Shrinks: true}, {Title: "MODEL"},
				},
				Row: func(one *parlancev1.AgentVersion) []term.Cell {
					return []term.Cell{
						{Text: fmt.Sprint(one.GetVersion())},
						{Text: client.Moment(one.GetCreatedAt())},
						{Text: term.Clean(one.GetAgent().GetName())},
						{Text: modelWords(one.GetAgent())},
					}
				},
				Empty: "There is no version.",
			})
		}),
	}
	o.Add(cmd.Flags())
	return cmd
}

func newRollback() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "rollback AGENT VERSION", Short: "Save an earlier version of an agent again, as its newest",
		Args: command.ExactArgs("AGENT", "VERSION"),
		Long: `Makes a new version with the fields of an earlier one. The versions between them stay, so that a rollback can be
undone by another one. Open sessions keep what they began with.`,
		Example: `  parlance agents versions agt_01j…
  parlance agents rollback agt_01j… 2`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			version, err := strconv.ParseInt(args[1], 10, 32)
			if err != nil || version < 1 {
				return command.Usagef("%q is not a version: give a number that `parlance agents versions %s` lists",
					term.Clean(args[1]), term.Clean(args[0]))
			}
			one, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			saved, err := c.Agents.RollbackAgent(ctx, &parlancev1.RollbackAgentRequest{
				WorkspaceId: c.WorkspaceID, AgentId: one.GetId(), Version: int32(version),
			})
			if err != nil {
				return c.Explain("roll the agent back", err)
			}
			if asJSON {
				return c.PrintMessage(saved)
			}
			c.Line("%s (%s) has the version %d, which is like version %d.", saved.GetName(), saved.GetId(), saved.GetVersion(), version)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the agent as a line of JSON")
	return cmd
}
