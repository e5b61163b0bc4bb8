package memory

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "memory", Short: "See, add, search, correct and delete what is remembered of users", GroupID: "use",
		Long: `Agents remember notes and statements of a user across sessions. A user is the user_id of sessions. Without flags
the commands work on the parlance dev of this machine.`,
		Example: `  parlance memory users
  parlance memory ls ada@example.org
  parlance memory add ada@example.org "Prefers tea." --category preference
  parlance memory search ada@example.org "What does she drink?"
  parlance memory update ada@example.org mem_01j… --text "Prefers green tea."`,
	}
	cmd.AddCommand(newUsers(), newList(), newAdd(), newSearch(), newUpdate(), newApprove(), newRemove())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// notes is what the commands share.
type notes struct {
	client.Caller
	memory parlancev1connect.MemoryServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, n *notes, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *notes {
		return &notes{Caller: c, memory: parlancev1connect.NewMemoryServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

func newUsers() *cobra.Command {
	var o client.ListOptions
	var prefix string
	cmd := &cobra.Command{
		Use: "users", Short: "List the users that sessions or memories are of", Args: command.ExactArgs(),
		Example: "  parlance memory users --prefix ada",
		RunE: with(func(ctx context.Context, n *notes, _ []string) error {
			return client.List(&n.Caller, o, client.Listing[*parlancev1.User]{
				Pages: func(token string) ([]*parlancev1.User, string, error) {
					page, err := n.memory.ListUsers(ctx, &parlancev1.ListUsersRequest{
						WorkspaceId: n.WorkspaceID, Prefix: prefix, PageSize: client.PageSize, PageToken: token,
					})
					if err != nil {
						return nil, "", n.Explain("list the users", err)
					}
					return page.GetUsers(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "USER", Shrinks: true}, {Title: "MEMORIES", Right: true}, {Title: "SESSIONS", Right: true}, {Title: "LAST SEEN"},
				},
				Row: func(one *parlancev1.User) []term.Cell {
					return []term.Cell{
						{Text: term.Clean(one.GetUserId())},
						{Text: fmt.Sprint(one.GetMemories())},
						{Text: fmt.Sprint(one.GetSessions())},
						{Text: client.Moment(one.GetLastSeenAt())},
					}
				},
				Empty: "There is no such user.",
			})
		}),
	}
	o.Add(cmd.Flags())
	cmd.Flags().StringVar(&prefix, "prefix", "", "only users whose id begins with this")
	return cmd
}

func newList() *cobra.Command {
	var o client.ListOptions
	var kind, status, category, words string
	cmd := &cobra.Command{
		Use: "ls USER", Aliases: []string{"list"}, Short: "List what is remembered of a user, newest first", Args: command.ExactArgs("USER"),
		Example: `  parlance memory ls ada@example.org
  parlance memory ls ada@example.org --status pending --json | jq -r .id`,
		RunE: with(func(ctx context.Context, n *notes, args []string) error {
			return client.List(&n.Caller, o, client.Listing[*parlancev1.Memory]{
				Pages: func(token string) ([]*parlancev1.Memory, string, error) {
					page, err := n.memory.ListMemories(ctx, &parlancev1.ListMemoriesRequest{
						WorkspaceId: n.WorkspaceID, UserId: args[0], Kind: kind, Status: status, Category: category, Q: words,
						PageSize: client.PageSize, PageToken: token,
					})
					if err != nil {
						return nil, "", n.Explain("list the memories", err)
					}
					return page.GetMemories(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "MADE", Drops: 1},
					{Title: "KIND"},
					{Title: "STATUS"},
					{Title: "CATEGORY", Drops: 2},
					{Title: "TEXT", Shrinks: true},
					{Title: "ID"},
				},
				Row: func(one *parlancev1.Memory) []term.Cell {
					return []term.Cell{
						{Text: client.Moment(one.GetCreatedAt())},
						{Text: one.GetKind()},
						{Text: one.GetStatus()},
						{Text: term.Clean(one.GetCategory())},
						{Text: term.Clean(one.GetText())},
						{Text: one.GetId(), Paint: n.Screen.Dim},
					}
				},
				Empty: "Nothing like that is remembered.",
			})
		}),
	}
	o.Add(cmd.Flags())
	cmd.Flags().StringVar(&kind, "kind", "", "only a note, or a statement")
	cmd.Flags().StringVar(&status, "status", "", "only those that are active, pending or superseded; default: active and pending")
	cmd.Flags().StringVar(&category, "category", "", "only those of this category")
	cmd.Flags().StringVar(&words, "query", "", "only those whose text or tags contain this, in any case")
	return cmd
}

func newAdd() *cobra.Command {
	req := &parlancev1.AddMemoryRequest{}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "add USER TEXT", Short: "Remember something of a user; it is read from the next turn on", Args: command.ExactArgs("USER", "TEXT"),
		Example: `  parlance memory add ada@example.org "Her order A-7 was refunded."
  parlance memory add ada@example.org "Wants to be called Ada." --kind statement --category name`,
		RunE: with(func(ctx context.Context, n *notes, args []string) error {
			req.WorkspaceId, req.UserId, req.Text = n.WorkspaceID, args[0], args[1]
			made, err := n.memory.AddMemory(ctx, req)
			if err != nil {
				return n.Explain("remember it", err)
			}
			if asJSON {
				return n.PrintMessage(made)
			}
			n.Line("remembered %s as a %s (%s)", made.GetText(), made.GetKind(), made.GetId())
			return nil
		}),
	}
	cmd.Flags().StringVar(&req.Kind, "kind", "", "note, a fact (default), or statement: who the user is or how to treat them")
	cmd.Flags().StringVar(&req.Category, "category", "", "what it is about, such as preference")
	cmd.Flags().StringVar(&req.Attribute, "attribute", "", "attribute within the category; only one statement of it is active")
	cmd.Flags().StringSliceVar(&req.Tags, "tags", nil, "words to find it by, with commas between them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the memory as a line of JSON")
	return cmd
}

func newSearch() *cobra.Command {
	var most int32
	var asJSON bool
	cmd := &cobra.Command{
		Use: "search USER QUERY", Short: "Find what an agent would find of a user, most fitting first", Args: command.ExactArgs("USER", "QUERY"),
		Example: `  parlance memory search ada@example.org "What does she drink?"`,
		RunE: with(func(ctx context.Context, n *notes, args []string) error {
			found, err := n.memory.SearchMemories(ctx, &parlancev1.SearchMemoriesRequest{
				WorkspaceId: n.WorkspaceID, UserId: args[0], Query: args[1], TopK: most,
			})
			if err != nil {
				return n.Explain("search the memories", err)
			}
			for _, one := range found.GetResults() {
				if asJSON {
					err = n.PrintMessage(one)
				} else {
					n.Screen.Line("%.2f  %s  %s", one.GetScore(), term.Clean(strings.TrimSpace(one.GetMemory().GetText())),
						n.Screen.Dim(one.GetMemory().GetId()))
				}
				if err != nil {
					return err
				}
			}
			if !asJSON && len(found.GetResults()) == 0 {
				n.Line("Nothing is found.")
			}
			return nil
		}),
	}
	cmd.Flags().Int32Var(&most, "top-k", 0, "find at most so many, 1 to 20; default: 5")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each, with its score")
	return cmd
}

func newRemove() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "rm USER [MEMORY…]", Aliases: []string{"remove", "delete"}, Short: "Forget things of a user, or with --all everything",
		Args: command.SomeArgs("USER"),
		Example: `  parlance memory rm ada@example.org mem_01j…
  parlance memory rm ada@example.org --all`,
		RunE: with(func(ctx context.Context, n *notes, args []string) error {
			user, ids := args[0], args[1:]
			if all == (len(ids) > 0) {
				return command.Usagef("name the memories to forget, or give --all")
			}
			if all {
				gone, err := n.memory.DeleteMemories(ctx, &parlancev1.DeleteMemoriesRequest{WorkspaceId: n.WorkspaceID, UserId: user})
				if err != nil {
					return n.Explain("forget the user", err)
				}
				n.Line("%s forgotten, with their history", term.Count(int(gone.GetDeleted()), "memory is", "memories are"))
				return nil
			}
			for _, id := range ids {
				_, err := n.memory.DeleteMemory(ctx, &parlancev1.DeleteMemoryRequest{WorkspaceId: n.WorkspaceID, UserId: user, MemoryId: id})
				if err != nil {
					return n.Explain("forget "+id, err)
				}
				n.Line("forgot %s", id)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "forget everything of the user")
	return cmd
}
