package calls

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// New makes `parlance calls`.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "calls", Short: "See telephone calls, hang them up and transfer them", GroupID: "use", Args: command.ExactArgs(),
		Long: `A call is one telephone call with an agent: one that came in for a number (parlance numbers), or one that the agent
made (parlance callbacks). What was said is in its session: parlance sessions transcript.`,
		Example: `  parlance calls ls --status in_progress
  parlance calls show pcl_01j…
  parlance calls transfer pcl_01j… +4930123456 --mode warm --summary "A question about order 7"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newList(), newShow(), newHangUp(), newTransfer())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// service is what the commands share.
type service struct {
	client.Caller
	telephony parlancev1connect.TelephonyServiceClient
	callbacks parlancev1connect.CallbackServiceClient
	sessions  parlancev1connect.SessionServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, s *service, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *service {
		return &service{
			Caller:    c,
			telephony: parlancev1connect.NewTelephonyServiceClient(c.HTTP, c.Base, c.Options()...),
			callbacks: parlancev1connect.NewCallbackServiceClient(c.HTTP, c.Base, c.Options()...),
			sessions:  parlancev1connect.NewSessionServiceClient(c.HTTP, c.Base, c.Options()...),
		}
	}, run)
}

// explain names the command that lists calls when there is none of the id.
func (s *service) explain(doing, id string, err error) error {
	if connect.CodeOf(err) == connect.CodeNotFound {
		return fmt.Errorf("%s: there is no such call as %s; `parlance calls ls` lists them", doing, term.Clean(id))
	}
	return s.Explain(doing, err)
}

func newList() *cobra.Command {
	var o client.ListOptions
	req := &parlancev1.ListCallsRequest{PageSize: client.PageSize}
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List calls, newest first", Args: command.ExactArgs(),
		Example: `  parlance calls ls --status in_progress
  parlance calls ls --direction inbound --limit 0 --json | jq -s 'map(.pstn_minutes) | add'`,
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			req.WorkspaceId = s.WorkspaceID
			if req.AgentId == "default" {
				req.AgentId = s.AgentID
			}
			return client.List(&s.Caller, o, client.Listing[*parlancev1.PhoneCall]{
				Pages: func(token string) ([]*parlancev1.PhoneCall, string, error) {
					req.PageToken = token
					page, err := s.telephony.ListCalls(ctx, req)
					if err != nil {
						return nil, "", s.Explain("list the calls", err)
					}
					return page.GetCalls(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "BEGUN"},
					{Title: "STATUS", Shrinks: true},
					{Title: "FROM"},
					{Title: "TO"},
					{Title: "TALKED", Right: true, Drops: 2},
					{Title: "USER", Drops: 1},
					{Title: "ID"},
				},
				Row: func(one *parlancev1.PhoneCall) []term.Cell {
					return []term.Cell{
						{Text: client.Moment(one.GetCreatedAt())},
						s.statusCell(one),
						{Text: one.GetFrom()},
						{Text: one.GetTo()},
						{Text: talked(one)},
						{Text: term.Clean(one.GetUserId())},
						{Text: one.GetId(), Paint: s.Screen.Dim},
					}
				},
				Empty: "There is no such call. To be called here, by the simulated line of parlance dev: parlance call +49…",
			})
		}),
	}
	o.Add(cmd.Flags())
	cmd.Flags().StringVar(&req.Direction, "direction", "", "only those that are inbound or outbound")
	cmd.Flags().StringVar(&req.Status, "status", "",
		"only those that are dialing, ringing, in_progress, completed, busy, no_answer, failed or canceled")
	cmd.Flags().StringVar(&req.AgentId, "agent", "", "only those of this agent, agt_…")
	cmd.Flags().StringVar(&req.UserId, "user", "", "only those with this user")
	return cmd
}

// talked is how long the two sides have talked.
func talked(one *parlancev1.PhoneCall) string {
	if one.GetAnsweredAt() == nil || one.GetEndedAt() == nil {
		return ""
	}
	return term.Took(time.Duration(one.GetDurationSeconds()) * time.Second)
}

func (s *service) statusCell(one *parlancev1.PhoneCall) term.Cell {
	words, paint := one.GetStatus(), s.Screen.Bad
	switch one.GetStatus() {
	case "dialing", "ringing", "in_progress":
		paint = s.Screen.Busy
	case "completed":
		paint = s.Screen.Good
	case "canceled":
		paint = s.Screen.Dim
	}
	if one.GetEndReason() != "" && one.GetEndReason() != one.GetStatus() {
		words += ": " + term.Clean(one.GetEndReason())
	}
	return term.Cell{Text: words, Paint: paint}
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show CALL", Aliases: []string{"get"}, Short: "Show a call", Args: command.ExactArgs("CALL"),
		Example: `  parlance calls show pcl_01j…
  parlance sessions transcript "$(parlance calls show pcl_01j… --json | jq -r .session_id)"`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			one, err := s.telephony.GetCall(ctx, &parlancev1.GetCallRequest{WorkspaceId: s.WorkspaceID, CallId: args[0]})
			if err != nil {
				return s.explain("find the call", args[0], err)
			}
			return s.print(one, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the call as a line of JSON")
	return cmd
}

func (s *service) print(one *parlancev1.PhoneCall, asJSON bool) error {
	if asJSON {
		return s.PrintMessage(one)
	}
	status := s.statusCell(one)
	s.Screen.Line("%s  %s  %s", s.Screen.Strong(one.GetFrom()+" → "+one.GetTo()), status.Paint(status.Text), s.Screen.Dim(one.GetId()))
	s.Fact("direction", one.GetDirection())
	s.Fact("user", one.GetUserId())
	s.Fact("agent", one.GetAgentId())
	s.Fact("session", one.GetSessionId())
	s.Fact("callback", one.GetCallbackId())
	s.Fact("number", one.GetNumberId())
	s.Fact("answered by", one.GetAnsweredBy())
	s.Fact("begun", client.Moment(one.GetCreatedAt()))
	s.Fact("answered", client.Moment(one.GetAnsweredAt()))
	s.Fact("ended", client.Moment(one.GetEndedAt()))
	s.Fact("talked", talked(one))
	if one.GetPstnMinutes() > 0 {
		s.Fact("counted", term.Count(int(one.GetPstnMinutes()), "minute", "minutes"))
	}
	if transfer := one.GetTransfer(); transfer.GetStatus() != "" {
		words := fmt.Sprintf("%s to %s, %s", transfer.GetMode(), transfer.GetTo(), transfer.GetStatus())
		if transfer.GetEndReason() != "" {
			words += ": " + transfer.GetEndReason()
		}
		s.Fact("transfer", words)
		s.Fact("summary", transfer.GetSummary())
	}
	s.Fact("carrier", one.GetCarrier()+" "+one.GetCarrierCallId())
	return nil
}

func newHangUp() *cobra.Command {
	return &cobra.Command{
		Use: "hang-up CALL…", Short: "Hang calls up", Args: command.SomeArgs("CALL"),
		Long:    "Ends calls. One that is over stays as it is.",
		Example: "  parlance calls hang-up pcl_01j…",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			for _, id := range args {
				one, err := s.telephony.HangUpCall(ctx, &parlancev1.HangUpCallRequest{WorkspaceId: s.WorkspaceID, CallId: id})
				if err != nil {
					return s.explain("hang the call up", id, err)
				}
				s.Line("%s %s", one.GetStatus(), one.GetId())
			}
			return nil
		}),
	}
}

func newTransfer() *cobra.Command {
	req := &parlancev1.TransferCallRequest{}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "transfer CALL NUMBER", Short: "Connect a caller with a person at another number", Args: command.ExactArgs("CALL", "NUMBER"),
		Long: `The agent leaves the call, and the caller is connected with the number. When nobody answers there, the caller comes
back to the agent. With --mode warm the person hears --summary first.`,
		Example: `  parlance calls transfer pcl_01j… +4930123456
  parlance calls transfer pcl_01j… +4930123456 --mode warm --summary "Ada asks for a refund of order 7"`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			req.WorkspaceId, req.CallId, req.To = s.WorkspaceID, args[0], args[1]
			one, err := s.telephony.TransferCall(ctx, req)
			if err != nil {
				return s.explain("transfer the call", args[0], err)
			}
			return s.print(one, asJSON)
		}),
	}
	cmd.Flags().StringVar(&req.Mode, "mode", "cold", "cold, or warm: the person hears the summary first")
	cmd.Flags().StringVar(&req.Summary, "summary", "", "what the person hears first, when it is warm")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the call as a line of JSON")
	return cmd
}
