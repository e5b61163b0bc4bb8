package sessions

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "See conversations, take them over, end and delete them", GroupID: "use",
		Long: `A session is one conversation of a user with an agent. Without flags the commands work on the parlance dev of
this machine. To begin one in the terminal: parlance chat.`,
		Example: `  parlance sessions ls --status in_progress
  parlance sessions transcript ses_01j…
  parlance sessions ls --handover requested
  parlance sessions take-over ses_01j… --as Grace
  parlance sessions end ses_01j… --reason "closed by support"`,
	}
	cmd.AddCommand(newList(), newShow(), newTranscript(), newReceipt(), newTakeOver(), newSay(), newRelease(), newEnd(), newRemove())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// service is what the commands share.
type service struct {
	client.Caller
	sessions parlancev1connect.SessionServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, s *service, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *service {
		return &service{Caller: c, sessions: parlancev1connect.NewSessionServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

// explain names the command that lists sessions when there is none of the id.
func (s *service) explain(doing, id string, err error) error {
	if connect.CodeOf(err) == connect.CodeNotFound {
		return fmt.Errorf("%s: there is no such session as %s; `parlance sessions ls` lists them", doing, term.Clean(id))
	}
	return s.Explain(doing, err)
}

func newList() *cobra.Command {
	var o client.ListOptions
	var since command.Since
	req := &parlancev1.ListSessionsRequest{PageSize: client.PageSize}
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the sessions of the workspace, newest first", Args: command.ExactArgs(),
		Example: `  parlance sessions ls --user ada@example.org
  parlance sessions ls --handover requested    # those that wait for a person
  parlance sessions ls --status failed --since 24h --limit 0 --json | jq -r .id`,
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			req.WorkspaceId = s.WorkspaceID
			if req.AgentId == "default" {
				req.AgentId = s.AgentID
			}
			if from, ok := since.From(s.Now()); ok {
				req.CreatedAfter = timestamppb.New(from)
			}
			return client.List(&s.Caller, o, client.Listing[*parlancev1.Session]{
				Pages: func(token string) ([]*parlancev1.Session, string, error) {
					req.PageToken = token
					page, err := s.sessions.ListSessions(ctx, req)
					if err != nil {
						return nil, "", s.Explain("list the sessions", err)
					}
					return page.GetSessions(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "MADE"},
					{Title: "STATUS"},
					{Title: "USER", Shrinks: true},
					{Title: "MODALITY", Drops: 1},
					{Title: "TURNS", Right: true},
					{Title: "AGENT", Drops: 2},
					{Title: "ID"},
				},
				Row: func(one *parlancev1.Session) []term.Cell {
					return []term.Cell{
						{Text: client.Moment(one.GetCreatedAt())},
						s.statusCell(one),
						{Text: term.Clean(one.GetUserId())},
						{Text: one.GetModality()},
						{Text: fmt.Sprint(one.GetTurnCount())},
						{Text: one.GetAgentId(), Paint: s.Screen.Dim},
						{Text: one.GetId(), Paint: s.Screen.Dim},
					}
				},
				Empty: "There is no such session. Begin one: parlance chat",
			})
		}),
	}
	o.Add(cmd.Flags())
	cmd.Flags().StringVar(&req.AgentId, "agent", "", "only those with this agent, agt_…")
	cmd.Flags().StringVar(&req.UserId, "user", "", "only those of this user")
	cmd.Flags().StringVar(&req.Status, "status", "", "only those that are pending, in_progress, completed or failed")
	cmd.Flags().StringVar(&req.EndReason, "end-reason", "", "only those that ended for this reason")
	cmd.Flags().StringVar(&req.Handover, "handover", "", "only open ones that wait for a person (requested) or that a person has (operator)")
	cmd.Flags().Var(&since, "since", "only those made since then: so long ago, such as 24h, or a time such as 2026-03-01T08:00:00Z")
	return cmd
}

func (s *service) statusCell(one *parlancev1.Session) term.Cell {
	words, paint := one.GetStatus(), s.Screen.Good
	switch {
	case one.GetStatus() == "failed":
		paint = s.Screen.Bad
	case one.GetEndedAt() == nil:
		paint = s.Screen.Busy
	}
	switch {
	case one.GetEndReason() != "":
		words += ": " + term.Clean(one.GetEndReason())
	case one.GetEndedAt() == nil && one.GetHandover().GetStatus() == "requested":
		words += ", asks for a person"
	case one.GetEndedAt() == nil && one.GetHandover().GetStatus() == "operator":
		words += ", with " + term.Clean(one.GetHandover().GetOperator())
	}
	return term.Cell{Text: words, Paint: paint}
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show SESSION", Aliases: []string{"get"}, Short: "Show a session: its state, limits, usage and analysis",
		Args: command.ExactArgs("SESSION"),
		Example: `  parlance sessions show ses_01j…
  parlance sessions show ses_01j… --json | jq .analysis`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			one, err := s.sessions.GetSession(ctx, &parlancev1.GetSessionRequest{SessionId: args[0]})
			if err != nil {
				return s.explain("find the session", args[0], err)
			}
			return s.print(one, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the session as a line of JSON")
	return cmd
}

func (s *service) print(one *parlancev1.Session, asJSON bool) error {
	if asJSON {
		return s.PrintMessage(one)
	}
	status := s.statusCell(one)
	s.Screen.Line("%s  %s", status.Paint(status.Text), s.Screen.Dim(one.GetId()))
	s.Fact("user", one.GetUserId())
	s.Fact("agent", fmt.Sprintf("%s, version %d", one.GetAgentId(), one.GetAgentVersion()))
	s.Fact("modality", one.GetModality())
	s.Fact("language", one.GetLanguage())
	s.Fact("made", client.Moment(one.GetCreatedAt()))
	s.Fact("ended", client.Moment(one.GetEndedAt()))
	s.printHandover(one.GetHandover())
	s.Fact("longest silence", fmt.Sprintf("%d s", one.GetIdleTimeoutSeconds()))
	s.Fact("longest", fmt.Sprintf("%d s", one.GetMaxDurationSeconds()))
	usage := one.GetUsage()
	s.Fact("turns", fmt.Sprintf("%d, with %s", one.GetTurnCount(), term.Count(int(usage.GetToolCalls()), "tool call", "tool calls")))
	s.Fact("tokens", fmt.Sprintf("%d in, %d out", usage.GetInputTokens(), usage.GetOutputTokens()))
	if analysis := one.GetAnalysis(); analysis.GetStatus() != "" {
		s.Fact("analysis", analysis.GetStatus())
		s.Fact("success", analysis.GetSuccess())
		s.Fact("summary", analysis.GetSummary())
	}
	return nil
}

func newEnd() *cobra.Command {
	var status, reason string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "end SESSION", Short: "End a session", Args: command.ExactArgs("SESSION"),
		Long:    "Ends a session; its analysis and its event follow. Ending one that has ended changes nothing.",
		Example: `  parlance sessions end ses_01j… --reason "closed by support"`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			ended, err := s.sessions.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: args[0], Status: status, Reason: reason})
			if err != nil {
				return s.explain("end the session", args[0], err)
			}
			return s.print(ended, asJSON)
		}),
	}
	cmd.Flags().StringVar(&status, "status", "completed", "completed or failed")
	cmd.Flags().StringVar(&reason, "reason", "", "why, in your words")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the session as a line of JSON")
	return cmd
}

func newRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm SESSION…", Aliases: []string{"remove", "delete"}, Short: "Delete sessions with everything of them",
		Args: command.SomeArgs("SESSION"),
		Long: `Deletes sessions with their turns, receipts, tool calls and webhook events. Open ones are ended first. What agents
remember of the user stays, and what is in exports that were made before; parlance privacy erase deletes both.`,
		Example: `  parlance sessions rm ses_01j…`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			for _, id := range args {
				if _, err := s.sessions.DeleteSession(ctx, &parlancev1.DeleteSessionRequest{SessionId: id}); err != nil {
					return s.explain("delete the session", id, err)
				}
				s.Line("deleted %s", term.Clean(id))
			}
			return nil
		}),
	}
}
