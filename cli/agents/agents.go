package agents

import (
	"context"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "agents", Short: "Make agents, change them, and see how they are set up", GroupID: "use",
		Long: `An agent is what a conversation is held with: instructions, a model, and what it may use. Without flags the
commands work on the parlance dev of this machine. An agent is named by its id (agt_…), or by "default", the demo agent.`,
		Example: `  parlance agents ls
  parlance agents create --name Ada --instructions @ada.md
  parlance agents update agt_01j… --model gpt-5-mini
  parlance agents versions agt_01j…
  parlance chat --agent agt_01j…`,
	}
	cmd.AddCommand(newList(), newShow(), newCreate(), newUpdate(), newVersions(), newRollback(), newLatency(), newRemove())
	client.AddWorkspace(cmd.Commands()...)
	cmd.AddCommand(newDraft()) // its commands have --workspace
	return cmd
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, c *client.Caller, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *client.Caller { return &c }, run)
}

func newList() *cobra.Command {
	var o client.ListOptions
	var search client.SearchOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the agents, newest first", Args: command.ExactArgs(),
		Example: `  parlance agents ls --order-by name
  parlance agents ls --query support --json | jq -r .id`,
		RunE: with(func(ctx context.Context, c *client.Caller, _ []string) error {
			return client.List(c, o, client.Listing[*parlancev1.Agent]{
				Pages: func(token string) ([]*parlancev1.Agent, string, error) {
					page, err := c.Agents.ListAgents(ctx, &parlancev1.ListAgentsRequest{
						WorkspaceId: c.WorkspaceID, PageSize: client.PageSize, PageToken: token, Q: search.Query, OrderBy: search.OrderBy,
					})
					if err != nil {
						return nil, "", c.Explain("list the agents", err)
					}
					return page.GetAgents(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "NAME", Shrinks: true}, {Title: "MODEL"}, {Title: "VERSION", Right: true}, {Title: "CHANGED", Drops: 1}, {Title: "ID"},
				},
				Row: func(one *parlancev1.Agent) []term.Cell {
					return []term.Cell{
						{Text: term.Clean(one.GetName())},
						{Text: modelWords(one)},
						{Text: fmt.Sprint(one.GetVersion())},
						{Text: client.Moment(one.GetUpdatedAt())},
						{Text: one.GetId(), Paint: c.Screen.Dim},
					}
				},
				Empty: "There is no such agent. Make one: parlance agents create --name Ada",
			})
		}),
	}
	o.Add(cmd.Flags())
	search.Add(cmd.Flags(), "name")
	return cmd
}

func modelWords(one *parlancev1.Agent) string {
	words := strings.Trim(one.GetModel().GetProvider()+"/"+one.GetModel().GetName(), "/")
	if words == "" {
		return "default"
	}
	return term.Clean(words)
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show AGENT", Aliases: []string{"get"}, Short: "Show an agent", Args: command.ExactArgs("AGENT"),
		Example: `  parlance agents show default
  parlance agents show agt_01j… --json | jq .model`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			one, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return c.PrintMessage(one)
			}
			c.Screen.Line("%s  %s", c.Screen.Strong(term.Clean(one.GetName())), c.Screen.Dim(one.GetId()))
			c.Fact("version", fmt.Sprintf("%d, of %s", one.GetVersion(), client.Moment(one.GetUpdatedAt())))
			c.Fact("model", modelWords(one))
			c.Fact("language", one.GetLanguage())
			c.Fact("first message", one.GetFirstMessage())
			c.Fact("redacted", strings.Join(one.GetPrivacy().GetRedact(), ", "))
			if one.GetPrivacy().GetZeroRetention() {
				c.Fact("zero retention", "what is said is deleted when it is delivered")
			}
			if days := one.GetPrivacy().GetRetention().GetTranscriptDays(); days > 0 {
				c.Fact("kept", fmt.Sprintf("sessions for %d days after their end", days))
			}
			if days := one.GetPrivacy().GetRetention().GetAudioDays(); days > 0 {
				c.Fact("audio kept", fmt.Sprintf("recordings for %d days after the session's end", days))
			}
			c.Screen.Line("")
			for _, line := range term.CleanLines(one.GetInstructions()) {
				c.Screen.Line("  %s", line)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the agent as the API has it")
	return cmd
}

// find finds an agent by its id, or the installation's own by "default".
func find(ctx context.Context, c *client.Caller, named string) (*parlancev1.Agent, error) {
	id, err := c.ChooseAgent(named)
	if err != nil {
		return nil, err
	}
	one, err := c.Agents.GetAgent(ctx, &parlancev1.GetAgentRequest{WorkspaceId: c.WorkspaceID, AgentId: id})
	if connect.CodeOf(err) == connect.CodeNotFound {
		return nil, fmt.Errorf("there is no agent %s in the workspace; `parlance agents ls` lists them", term.Clean(id))
	}
	if err != nil {
		return nil, c.Explain("find the agent", err)
	}
	return one, nil
}

func newRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm AGENT…", Aliases: []string{"remove", "delete"}, Short: "Delete agents", Args: command.SomeArgs("AGENT"),
		Example: "  parlance agents rm agt_01j…",
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			for _, named := range args {
				one, err := find(ctx, c, named)
				if err != nil {
					return err
				}
				_, err = c.Agents.DeleteAgent(ctx, &parlancev1.DeleteAgentRequest{WorkspaceId: c.WorkspaceID, AgentId: one.GetId()})
				if err != nil {
					return c.Explain("delete "+one.GetId(), err)
				}
				c.Line("deleted %s (%s)", one.GetName(), one.GetId())
			}
			return nil
		}),
	}
}
