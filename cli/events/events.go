package events

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "events", Short: "Read the feed of what happens in a workspace", GroupID: "use",
		Long: `The feed has every event of a workspace, also those that no webhook endpoint subscribes to. Without flags the
commands work on the parlance dev of this machine. To send events to a program of yours: parlance listen.`,
		Example: `  parlance events ls --events post_call_transcription
  parlance events follow --json | jq .data`,
	}
	cmd.AddCommand(newList(), newFollow())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// feed is what the commands share.
type feed struct {
	client.Caller
	webhooks parlancev1connect.WebhookServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, f *feed, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *feed {
		return &feed{Caller: c, webhooks: parlancev1connect.NewWebhookServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

// selection are the flags that select events.
type selection struct {
	after string
	names []string
}

func (s *selection) add(flags *pflag.FlagSet, from string) {
	flags.StringVar(&s.after, "after", "", "begin after the event with this cursor; default: "+from)
	flags.StringSliceVar(&s.names, "events", nil, "only events of these names, with commas between them")
}

func newList() *cobra.Command {
	var s selection
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the events that are kept, oldest first", Args: command.ExactArgs(),
		Example: `  parlance events ls --events kb.source_ingested
  parlance events ls --after 3vYq0w0sB1xj5m2cXo7T9A --limit 0 --json | jq -c '{cursor, type}'`,
		RunE: with(func(ctx context.Context, f *feed, _ []string) error {
			return client.List(&f.Caller, o, client.Listing[*parlancev1.Event]{
				Pages: func(token string) ([]*parlancev1.Event, string, error) {
					req := &parlancev1.ListEventsRequest{WorkspaceId: f.WorkspaceID, Events: s.names, PageSize: client.PageSize, PageToken: token}
					if token == "" {
						req.After = s.after
					}
					page, err := f.webhooks.ListEvents(ctx, req)
					if err != nil {
						return nil, "", f.Explain("list the events", err)
					}
					return page.GetEvents(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "HAPPENED"}, {Title: "EVENT"}, {Title: "DATA", Shrinks: true}, {Title: "CURSOR"}, {Title: "ID", Drops: 1},
				},
				Row: func(one *parlancev1.Event) []term.Cell {
					return []term.Cell{
						{Text: client.Moment(one.GetCreatedAt())},
						{Text: term.Clean(one.GetType())},
						{Text: term.Clean(one.GetDataJson())},
						{Text: term.Clean(one.GetCursor())},
						{Text: one.GetEventId(), Paint: f.Screen.Dim},
					}
				},
				Empty: "There is no such event.",
			})
		}),
	}
	s.add(cmd.Flags(), "the oldest that is kept")
	o.Add(cmd.Flags())
	return cmd
}

func newFollow() *cobra.Command {
	var s selection
	var asJSON bool
	cmd := &cobra.Command{
		Use: "follow", Short: "Print events as they happen, until Ctrl-C", Args: command.ExactArgs(),
		Long: `Prints events as they happen. When the connection breaks it goes on from the last event. Begin after a cursor
with --after; 0 begins with the oldest that is kept.`,
		Example: `  parlance events follow
  parlance events follow --after 0 --json`,
		RunE: with(func(ctx context.Context, f *feed, _ []string) error {
			stream := client.EventStream{
				Caller: &f.Caller, After: s.after, Events: s.names,
				Ready: func(bool) error { return nil },
				Event: func(event *parlancev1.Event) error { return f.print(event, asJSON) },
				JSON:  asJSON,
			}
			return stream.Follow(ctx)
		}),
	}
	s.add(cmd.Flags(), "what comes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return cmd
}

func (f *feed) print(event *parlancev1.Event, asJSON bool) error {
	if asJSON {
		return f.PrintMessage(event)
	}
	f.Screen.Line("%s  %s  %s  %s", client.Moment(event.GetCreatedAt()), f.Screen.Strong(term.Clean(event.GetType())),
		term.Clean(event.GetDataJson()), f.Screen.Dim("cursor "+term.Clean(event.GetCursor())))
	return nil
}
