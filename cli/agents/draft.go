package agents

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newDraft() *cobra.Command {
	cmd := &cobra.Command{
		Use: "draft", Short: "Prepare changes of an agent that no conversation uses yet",
		Long: `A draft is settings of an agent that are not published. Sessions that are created with "draft": true use them, and
publishing makes them the agent's next version. An agent has at most one draft.`,
		Example: `  parlance agents draft save default --instructions @ada.md
  parlance agents draft diff default
  parlance agents draft publish default`,
	}
	cmd.AddCommand(newDraftShow(), newDraftSave(), newDraftDiff(), newDraftPublish(), newDraftDiscard())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

func newDraftShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show AGENT", Aliases: []string{"get"}, Short: "Show the draft of an agent", Args: command.ExactArgs("AGENT"),
		Example: `  parlance agents draft show default
  parlance agents draft show agt_01j… --json | jq .agent.instructions`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			agent, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			draft, err := c.Agents.GetAgentDraft(ctx, &parlancev1.GetAgentDraftRequest{WorkspaceId: c.WorkspaceID, AgentId: agent.GetId()})
			if err != nil {
				return c.Explain("find the draft", err)
			}
			if asJSON {
				return c.PrintMessage(draft)
			}
			one := draft.GetAgent()
			c.Screen.Line("%s  %s", c.Screen.Strong(term.Clean(one.GetName())), c.Screen.Dim(draft.GetAgentId()))
			if draft.GetRevision() == 0 {
				c.Screen.Line("  It has no draft; these are its own settings, of version %d.", one.GetVersion())
			} else {
				c.Fact("revision", fmt.Sprintf("%d, of %s", draft.GetRevision(), client.Moment(draft.GetUpdatedAt())))
				c.Fact("saved by", draft.GetUpdatedBy())
				c.Fact("begun at", fmt.Sprintf("version %d", one.GetVersion()))
			}
			if draft.GetStale() {
				c.Fact("published", fmt.Sprintf("version %d by now", agent.GetVersion()))
			}
			c.Fact("model", modelWords(one))
			c.Fact("language", one.GetLanguage())
			c.Fact("first message", one.GetFirstMessage())
			c.Screen.Line("")
			for _, line := range term.CleanLines(one.GetInstructions()) {
				c.Screen.Line("  %s", line)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the draft as a line of JSON")
	return cmd
}

func newDraftSave() *cobra.Command {
	var f fields
	var revision int32
	cmd := &cobra.Command{
		Use: "save AGENT", Short: "Save the draft of an agent", Args: command.ExactArgs("AGENT"),
		Long: `With --file the draft has the fields of the file, as agents create takes it, and defaults for the others. Without, it
has those of the draft there is, or else of the agent. Flags win over both.`,
		Example: `  parlance agents draft save default --first-message "Hello, this is Ada."
  parlance agents draft save agt_01j… --file agent.json --revision 3`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			agent, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			req := &parlancev1.SaveAgentDraftRequest{WorkspaceId: c.WorkspaceID, AgentId: agent.GetId()}
			if f.given("revision") {
				req.Revision = &revision
			}
			if err := f.draft(ctx, c, req); err != nil {
				return err
			}
			draft, err := c.Agents.SaveAgentDraft(ctx, req)
			if err != nil {
				return c.Explain("save the draft", err)
			}
			if f.json {
				return c.PrintMessage(draft)
			}
			c.Line("The draft of %s (%s) is at revision %d. Publish it: parlance agents draft publish %s",
				agent.GetName(), agent.GetId(), draft.GetRevision(), agent.GetId())
			return nil
		}),
	}
	f.add(cmd)
	cmd.Flags().Int32Var(&revision, "revision", 0,
		"save only if this is still the revision of the draft, 0: if there is none; default: that which was read, or with --file any")
	return cmd
}

// draft sets the settings of a request: those of the file, or else of the draft or the agent, with
// the changes of the flags.
func (f *fields) draft(ctx context.Context, c *client.Caller, req *parlancev1.SaveAgentDraftRequest) error {
	req.Agent = &parlancev1.CreateAgentRequest{}
	if f.file != "" {
		if _, err := c.ReadMessage(f.file, req.GetAgent()); err != nil {
			return err
		}
		return f.apply(req.GetAgent())
	}
	there, err := c.Agents.GetAgentDraft(ctx, &parlancev1.GetAgentDraftRequest{WorkspaceId: req.GetWorkspaceId(), AgentId: req.GetAgentId()})
	if err != nil {
		return c.Explain("find the draft", err)
	}
	req.BaseVersion = there.GetAgent().GetVersion()
	if !f.given("revision") {
		req.Revision = proto.Int32(there.GetRevision())
	}
	encoded, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(there.GetAgent())
	if err != nil {
		return fmt.Errorf("encode the agent: %w", err)
	}
	// What an agent has and a new one has not, such as its id, is left out.
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(encoded, req.GetAgent()); err != nil {
		return fmt.Errorf("decode the agent: %w", err)
	}
	return f.apply(req.GetAgent())
}

func newDraftDiff() *cobra.Command {
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "diff AGENT", Short: "List the fields in which the draft differs from the agent", Args: command.ExactArgs("AGENT"),
		Example: `  parlance agents draft diff default
  parlance agents draft diff agt_01j… --json | jq -r .path`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			agent, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			return client.List(c, o, client.Listing[*parlancev1.VersionChange]{
				Pages: func(string) ([]*parlancev1.VersionChange, string, error) {
					found, err := c.Agents.CompareAgentDraft(ctx, &parlancev1.CompareAgentDraftRequest{
						WorkspaceId: c.WorkspaceID, AgentId: agent.GetId(),
					})
					if err != nil {
						return nil, "", c.Explain("compare the draft", err)
					}
					return found.GetChanges(), "", nil
				},
				Columns: []term.Column{{Title: "FIELD"}, {Title: "PUBLISHED", Shrinks: true}, {Title: "DRAFT", Shrinks: true}},
				Row: func(one *parlancev1.VersionChange) []term.Cell {
					return []term.Cell{{Text: term.Clean(one.GetPath())}, {Text: valueWords(one.GetFrom())}, {Text: valueWords(one.GetTo())}}
				},
				Empty: "The draft is like the agent.",
			})
		}),
	}
	o.Add(cmd.Flags())
	return cmd
}

// valueWords returns a text as it is, nothing as a dash, and other values as JSON.
func valueWords(value *structpb.Value) string {
	switch kind := value.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return "-"
	case *structpb.Value_StringValue:
		return term.Clean(kind.StringValue)
	}
	encoded, err := protojson.Marshal(value)
	if err != nil {
		return "?"
	}
	return term.Clean(string(encoded))
}

func newDraftPublish() *cobra.Command {
	req := &parlancev1.PublishAgentDraftRequest{}
	var revision int32
	var asJSON bool
	cmd := &cobra.Command{
		Use: "publish AGENT", Short: "Make the draft the agent's next version", Args: command.ExactArgs("AGENT"),
		Long: `The draft is removed then. Sessions that are open keep what they began with.`,
		Example: `  parlance agents draft publish default
  parlance agents draft publish agt_01j… --overwrite`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			agent, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			req.WorkspaceId, req.AgentId = c.WorkspaceID, agent.GetId()
			if revision > 0 {
				req.Revision = &revision
			}
			published, err := c.Agents.PublishAgentDraft(ctx, req)
			if err != nil {
				return c.Explain("publish the draft", err)
			}
			if asJSON {
				return c.PrintMessage(published)
			}
			c.Line("%s (%s) has the version %d.", published.GetName(), published.GetId(), published.GetVersion())
			return nil
		}),
	}
	cmd.Flags().Int32Var(&revision, "revision", 0, "publish only if this is still the revision of the draft; 0: any")
	cmd.Flags().BoolVar(&req.Overwrite, "overwrite", false, "give up changes that the agent got since the draft was begun")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the agent as a line of JSON")
	return cmd
}

func newDraftDiscard() *cobra.Command {
	return &cobra.Command{
		Use: "discard AGENT", Aliases: []string{"rm"}, Short: "Throw the draft of an agent away", Args: command.ExactArgs("AGENT"),
		Example: "  parlance agents draft discard agt_01j…",
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			agent, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			_, err = c.Agents.DeleteAgentDraft(ctx, &parlancev1.DeleteAgentDraftRequest{WorkspaceId: c.WorkspaceID, AgentId: agent.GetId()})
			if err != nil {
				return c.Explain("discard the draft", err)
			}
			c.Line("discarded the draft of %s (%s)", agent.GetName(), agent.GetId())
			return nil
		}),
	}
}
