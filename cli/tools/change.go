package tools

import (
	"context"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newAttach() *cobra.Command {
	var most int32
	var off, asJSON bool
	cmd := &cobra.Command{
		Use: "attach TOOL…", Short: "Let an agent use tools", Args: command.SomeArgs("TOOL"),
		Long: `Lets an agent use tools. A tool that is attached already is changed: without --max-calls its cap stays.
Those of the service that are off until they are wanted (schedule_callback, manage_callback) are turned on the same way.`,
		Example: `  parlance tools attach get_order cancel_order
  parlance tools attach cancel_order --agent agt_01j… --max-calls 1`,
		RunE: withTools(func(ctx context.Context, b *toolbox, args []string) error {
			agent, err := b.ChooseAgent(b.AgentID)
			if err != nil {
				return err
			}
			found, err := b.find(ctx, args...)
			if err != nil {
				return err
			}
			enabled := !off
			for _, tool := range found {
				req := &parlancev1.AttachToolRequest{WorkspaceId: b.WorkspaceID, AgentId: agent, ToolId: tool.GetId(), Enabled: &enabled}
				if most >= 0 {
					req.MaxCallsPerSession = &most
				}
				made, err := b.tools.AttachTool(ctx, req)
				switch {
				case err != nil:
					return b.Explain("attach "+tool.GetSlug(), err)
				case asJSON:
					if err := b.PrintMessage(made); err != nil {
						return err
					}
				}
			}
			if !asJSON {
				b.Line("%s attached to %s%s.", term.Count(len(found), "tool is", "tools are"), agent, map[bool]string{true: ", turned off"}[off])
			}
			return nil
		}),
	}
	cmd.Flags().String("agent", "", "agent, agt_… ["+command.EnvAgent+"]")
	cmd.Flags().Int32Var(&most, "max-calls", -1, "most calls in one session, 1 to 10,000; 0: no cap; default: as it is")
	cmd.Flags().BoolVar(&off, "disabled", false, "attach them turned off")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return cmd
}

func newDetach() *cobra.Command {
	cmd := &cobra.Command{
		Use: "detach TOOL…", Short: "Take tools away from an agent", Args: command.SomeArgs("TOOL"),
		Example: "  parlance tools detach cancel_order --agent agt_01j…",
		RunE: withTools(func(ctx context.Context, b *toolbox, args []string) error {
			agent, err := b.ChooseAgent(b.AgentID)
			if err != nil {
				return err
			}
			found, err := b.find(ctx, args...)
			if err != nil {
				return err
			}
			for _, tool := range found {
				_, err := b.tools.DetachTool(ctx, &parlancev1.DetachToolRequest{WorkspaceId: b.WorkspaceID, AgentId: agent, ToolId: tool.GetId()})
				if err != nil {
					return b.Explain("detach "+tool.GetSlug(), err)
				}
			}
			b.Line("%s taken from %s.", term.Count(len(found), "tool is", "tools are"), agent)
			return nil
		}),
	}
	cmd.Flags().String("agent", "", "agent, agt_… ["+command.EnvAgent+"]")
	return cmd
}

func newRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm TOOL…", Aliases: []string{
			"remove",
			"delete",
		}, Short: "Delete tools, and take them from every agent", Args: command.SomeArgs("TOOL"),
		Long: "Deletes tools and takes them from every agent at once. The traces of their calls stay until their time is over.",
		Example: `  parlance tools rm get_order
  parlance tools ls --json | jq -r 'select(.slug | startswith("stripe_")) | .id' | xargs -r parlance tools rm`,
		RunE: withTools(func(ctx context.Context, b *toolbox, args []string) error {
			found, err := b.find(ctx, args...)
			if err != nil {
				return err
			}
			for _, tool := range found {
				_, err := b.tools.DeleteTool(ctx, &parlancev1.DeleteToolRequest{WorkspaceId: b.WorkspaceID, ToolId: tool.GetId()})
				if err != nil && connect.CodeOf(err) != connect.CodeNotFound { // another command deleted it
					return b.Explain("delete "+tool.GetSlug(), err)
				}
				b.Line("deleted %s (%s)", tool.GetSlug(), tool.GetId())
			}
			return nil
		}),
	}
}
