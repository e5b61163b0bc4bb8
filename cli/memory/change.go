package memory

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// changes are the flags for the fields of a memory.
type changes struct {
	text, category, attribute, expires string
	tags                               []string
	confidence                         float64
}

func newUpdate() *cobra.Command {
	var o changes
	var asJSON bool
	cmd := &cobra.Command{
		Use: "update USER MEMORY", Short: "Correct something that is remembered; it is read from the next turn on",
		Args: command.ExactArgs("USER", "MEMORY"),
		Long: `Changes what the flags name and keeps the rest. An empty value removes a category, an attribute, the tags and the
time at which it is forgotten.`,
		Example: `  parlance memory update ada@example.org mem_01j… --text "Prefers green tea."
  parlance memory update ada@example.org mem_01j… --expires-at 2027-01-31T00:00:00Z --tags ""`,
	}
	cmd.RunE = with(func(ctx context.Context, n *notes, args []string) error {
		req, err := o.request(cmd.Flags())
		if err != nil {
			return err
		}
		req.WorkspaceId, req.UserId, req.MemoryId = n.WorkspaceID, args[0], args[1]
		changed, err := n.memory.UpdateMemory(ctx, req)
		if err != nil {
			return n.Explain("correct "+args[1], err)
		}
		if asJSON {
			return n.PrintMessage(changed)
		}
		n.Line("%s is now: %s", changed.GetId(), changed.GetText())
		return nil
	})
	flags := cmd.Flags()
	flags.StringVar(&o.text, "text", "", "what is remembered")
	flags.StringVar(&o.category, "category", "", "what it is about, such as preference")
	flags.StringVar(&o.attribute, "attribute", "", "attribute within the category; only one statement of it is active")
	flags.StringSliceVar(&o.tags, "tags", nil, "words to find it by, with commas between them; they replace the earlier ones")
	flags.Float64Var(&o.confidence, "confidence", 0, "how sure it is, 0 to 1")
	flags.StringVar(&o.expires, "expires-at", "", "when it is forgotten by itself, such as 2027-01-31T00:00:00Z")
	flags.BoolVar(&asJSON, "json", false, "print the memory as a line of JSON")
	return cmd
}

// request makes the request of the flags that were given.
func (o *changes) request(flags *pflag.FlagSet) (*parlancev1.UpdateMemoryRequest, error) {
	req := &parlancev1.UpdateMemoryRequest{
		Category: &o.category, Attribute: &o.attribute, Tags: o.tags, Confidence: &o.confidence,
		UpdateMask: &fieldmaskpb.FieldMask{},
	}
	if flags.Changed("text") { // an empty text is refused
		req.Text = &o.text
	}
	for _, field := range []string{"text", "category", "attribute", "tags", "confidence", "expires_at"} {
		if flags.Changed(strings.ReplaceAll(field, "_", "-")) {
			req.UpdateMask.Paths = append(req.UpdateMask.Paths, field)
		}
	}
	if len(req.GetUpdateMask().GetPaths()) == 0 {
		return nil, command.Usagef("nothing is to change: say what, such as --text \"Prefers green tea.\"")
	}
	if o.expires != "" {
		at, err := time.Parse(time.RFC3339, o.expires)
		if err != nil {
			return nil, command.Usagef("--expires-at %q is not a time: give one such as 2027-01-31T00:00:00Z", o.expires)
		}
		req.ExpiresAt = timestamppb.New(at)
	}
	return req, nil
}

func newApprove() *cobra.Command {
	return &cobra.Command{
		Use: "approve USER MEMORY…", Short: "Confirm pending memories, which agents then read", Args: command.SomeArgs("USER"),
		Long: `A memory of a category in memory.confirm_categories of an agent is pending: no agent reads it until the user
confirms it in a conversation, or this command does. To refuse one, delete it: parlance memory rm USER MEMORY.`,
		Example: `  parlance memory ls ada@example.org --status pending
  parlance memory approve ada@example.org mem_01j…`,
		RunE: with(func(ctx context.Context, n *notes, args []string) error {
			if len(args) < 2 {
				return command.Usagef("name the memories to approve; `parlance memory ls USER --status pending` lists them")
			}
			for _, id := range args[1:] {
				one, err := n.memory.ApproveMemory(ctx, &parlancev1.ApproveMemoryRequest{
					WorkspaceId: n.WorkspaceID, UserId: args[0], MemoryId: id,
				})
				if err != nil {
					return n.Explain("approve "+id, err)
				}
				n.Line("%s is %s: %s", one.GetId(), one.GetStatus(), one.GetText())
			}
			return nil
		}),
	}
}
