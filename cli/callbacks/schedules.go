package callbacks

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// NewSchedules makes `parlance schedules`.
func NewSchedules() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schedules", Short: "Have agents call users again and again, such as each Monday at nine", GroupID: "use",
		Args: command.ExactArgs(),
		Long: `A schedule makes callbacks: its cron expression says when, in a time zone of its own, so that nine o'clock stays nine
o'clock when clocks are set forward or back.`,
		Example: `  parlance schedules create +4930123456 --cron "0 9 * * MON-FRI" --timezone Europe/Berlin --reason "The daily check"
  parlance schedules show sch_01j…
  parlance schedules update sch_01j… --enabled=false`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newListSchedules(), newShowSchedule(), newCreateSchedule(), newUpdateSchedule(), newRemoveSchedules())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

func newListSchedules() *cobra.Command {
	var o client.ListOptions
	req := &parlancev1.ListCallbackSchedulesRequest{PageSize: client.PageSize}
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List schedules, newest first", Args: command.ExactArgs(),
		Example: `  parlance schedules ls
  parlance schedules ls --user ada@example.org --json | jq -r .next_runs[0]`,
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			req.WorkspaceId = s.WorkspaceID
			if req.AgentId == "default" {
				req.AgentId = s.AgentID
			}
			return client.List(&s.Caller, o, client.Listing[*parlancev1.CallbackSchedule]{
				Pages: func(token string) ([]*parlancev1.CallbackSchedule, string, error) {
					req.PageToken = token
					page, err := s.callbacks.ListCallbackSchedules(ctx, req)
					if err != nil {
						return nil, "", s.Explain("list the schedules", err)
					}
					return page.GetSchedules(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "NEXT"},
					{Title: "CRON"},
					{Title: "NUMBER"},
					{Title: "USER", Drops: 1},
					{Title: "ABOUT", Shrinks: true},
					{Title: "ID"},
				},
				Row: func(one *parlancev1.CallbackSchedule) []term.Cell {
					return []term.Cell{
						s.nextCell(one),
						{Text: term.Clean(one.GetCron())},
						{Text: one.GetPhoneNumber()},
						{Text: term.Clean(one.GetUserId())},
						{Text: term.Clean(one.GetReason())},
						{Text: one.GetId(), Paint: s.Screen.Dim},
					}
				},
				Empty: `There is no schedule. Make one: parlance schedules create +49… --cron "0 9 * * MON"`,
			})
		}),
	}
	o.Add(cmd.Flags())
	cmd.Flags().StringVar(&req.AgentId, "agent", "", "only those of this agent, agt_…")
	cmd.Flags().StringVar(&req.UserId, "user", "", "only those to this user")
	return cmd
}

// nextCell is the next run, in the schedule's zone.
func (s *service) nextCell(one *parlancev1.CallbackSchedule) term.Cell {
	switch {
	case !one.GetEnabled():
		return term.Cell{Text: "disabled", Paint: s.Screen.Dim}
	case len(one.GetNextRuns()) == 0:
		return term.Cell{Text: "never again", Paint: s.Screen.Dim}
	}
	return term.Cell{Text: inZone(one.GetNextRuns()[0], one.GetTimezone()), Paint: s.Screen.Good}
}

func newShowSchedule() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show SCHEDULE", Aliases: []string{"get"}, Short: "Show a schedule and its next ten runs", Args: command.ExactArgs("SCHEDULE"),
		Example: `  parlance schedules show sch_01j…
  parlance schedules show sch_01j… --json | jq -r .next_runs[]`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			one, err := s.callbacks.GetCallbackSchedule(ctx, &parlancev1.GetCallbackScheduleRequest{
				WorkspaceId: s.WorkspaceID, ScheduleId: args[0],
			})
			if err != nil {
				return s.explain("find the schedule", "schedules", args[0], err)
			}
			return s.printSchedule(one, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the schedule as a line of JSON")
	return cmd
}

func (s *service) printSchedule(one *parlancev1.CallbackSchedule, asJSON bool) error {
	if asJSON {
		return s.PrintMessage(one)
	}
	next := s.nextCell(one)
	s.Screen.Line("%s  %s  %s", s.Screen.Strong(one.GetPhoneNumber()), next.Paint(next.Text), s.Screen.Dim(one.GetId()))
	s.Fact("cron", one.GetCron())
	s.Fact("time zone", one.GetTimezone())
	s.Fact("about", one.GetReason())
	s.Fact("user", one.GetUserId())
	s.Fact("agent", one.GetAgentId())
	s.Fact("begins", inZone(one.GetStartsAt(), one.GetTimezone()))
	s.Fact("ends", inZone(one.GetEndsAt(), one.GetTimezone()))
	s.Fact("not on", strings.Join(one.GetExceptions(), ", "))
	s.printVariables(one.GetDynamicVariables())
	if one.GetSkippedRuns() > 0 {
		s.Fact("skipped", fmt.Sprintf("%s, because no worker ran; the last on %s", term.Count(int(one.GetSkippedRuns()), "run", "runs"),
			inZone(one.GetLastSkippedAt(), one.GetTimezone())))
	}
	for i, run := range one.GetNextRuns() {
		name := ""
		if i == 0 {
			name = "next runs"
		}
		s.Fact(name, inZone(run, one.GetTimezone()))
	}
	return nil
}

func newRemoveSchedules() *cobra.Command {
	return &cobra.Command{
		Use: "rm SCHEDULE…", Aliases: []string{"remove", "delete"}, Short: "Delete schedules, and cancel their callbacks that are scheduled",
		Args: command.SomeArgs("SCHEDULE"),
		Long: `Deletes schedules. Calls in progress go on. To stop one only for a while: parlance schedules update SCHEDULE
--enabled=false`,
		Example: "  parlance schedules rm sch_01j…",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			for _, id := range args {
				req := &parlancev1.DeleteCallbackScheduleRequest{WorkspaceId: s.WorkspaceID, ScheduleId: id}
				if _, err := s.callbacks.DeleteCallbackSchedule(ctx, req); err != nil {
					return s.explain("delete the schedule", "schedules", id, err)
				}
				s.Line("deleted %s", id)
			}
			return nil
		}),
	}
}
