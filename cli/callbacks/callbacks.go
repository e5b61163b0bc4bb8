package callbacks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/localtime"
)

// New makes `parlance callbacks`.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "callbacks", Short: "Plan calls of agents to users, and see how they ended", GroupID: "use", Args: command.ExactArgs(),
		Long: `A callback is one call of an agent to a user: at once, at a time, or in so many minutes. It is tried three times
when nobody answers. The agent's callback settings say when and whom it may call. Agents plan callbacks themselves, too.

Calls that repeat: parlance schedules. Calls to many numbers: parlance batches. To be called on this machine, without
a carrier: parlance call.`,
		Example: `  parlance callbacks create "+49 30 123456" --at 2026-12-01T09:00 --timezone Europe/Berlin --reason "The part has come"
  parlance callbacks ls --status scheduled
  parlance callbacks calendar
  parlance callbacks cancel cb_01j…`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newList(), newShow(), newCreate(), newUpdate(), newCancel(), newCalendar(), newICS(), newConsent())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// service is what the commands share.
type service struct {
	client.Caller
	callbacks parlancev1connect.CallbackServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, s *service, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *service {
		return &service{Caller: c, callbacks: parlancev1connect.NewCallbackServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

// explain is Explain for calls about something with an id. group is the command that lists such
// things.
func (s *service) explain(doing, group, id string, err error) error {
	if connect.CodeOf(err) == connect.CodeNotFound {
		return fmt.Errorf("%s: there is no such one as %s; `parlance %s ls` lists them", doing, term.Clean(id), group)
	}
	return s.Explain(doing, err)
}

// inZone is a time as clocks show it in an IANA zone; "" for no time.
func inZone(at *timestamppb.Timestamp, zone string) string {
	if at == nil {
		return ""
	}
	location, ok := localtime.Zone(zone)
	if !ok {
		return client.Moment(at)
	}
	return at.AsTime().In(location).Format("Mon 2006-01-02 15:04 MST")
}

// momentOf reads the time of a flag: RFC 3339, a local time, or a day, of a zone. Without a zone it
// is that of this machine. "" is no time.
func momentOf(flag, text, zone string) (*timestamppb.Timestamp, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no time is a time that is null
	}
	location := time.Local
	if zone != "" {
		found, ok := localtime.Zone(zone)
		if !ok {
			return nil, command.Usagef("--timezone %q is no IANA time zone, such as Europe/Berlin", zone)
		}
		location = found
	}
	at, ok := localtime.Parse(text, location)
	if !ok {
		at, ok = localtime.Parse(text+"T00:00", location)
	}
	if !ok {
		return nil, command.Usagef("--%s %q is no time: say 2026-12-01, 2026-12-01T09:00 or 2026-12-01T09:00:00+01:00", flag, text)
	}
	return timestamppb.New(at), nil
}

// span are the flags for a span of time.
type span struct{ from, until string }

func (o *span) add(cmd *cobra.Command, from, until string) {
	cmd.Flags().StringVar(&o.from, "from", "", from)
	cmd.Flags().StringVar(&o.until, "until", "", until)
}

func (o *span) moments() (from, until *timestamppb.Timestamp, err error) {
	if from, err = momentOf("from", o.from, ""); err != nil {
		return nil, nil, err
	}
	until, err = momentOf("until", o.until, "")
	return from, until, err
}

func newList() *cobra.Command {
	var o client.ListOptions
	var within span
	req := &parlancev1.ListCallbacksRequest{PageSize: client.PageSize}
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List callbacks, those due last first", Args: command.ExactArgs(),
		Example: `  parlance callbacks ls --status scheduled
  parlance callbacks ls --user ada@example.org --from 2026-12-01
  parlance callbacks ls --batch bat_01j… --limit 0 --json | jq -r 'select(.status == "failed") | .end_reason'`,
		RunE: with(func(ctx context.Context, s *service, _ []string) (err error) {
			req.WorkspaceId = s.WorkspaceID
			if req.AgentId == "default" {
				req.AgentId = s.AgentID
			}
			if req.From, req.Until, err = within.moments(); err != nil {
				return err
			}
			return client.List(&s.Caller, o, client.Listing[*parlancev1.Callback]{
				Pages: func(token string) ([]*parlancev1.Callback, string, error) {
					req.PageToken = token
					page, err := s.callbacks.ListCallbacks(ctx, req)
					if err != nil {
						return nil, "", s.Explain("list the callbacks", err)
					}
					return page.GetCallbacks(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "AT"},
					{Title: "STATUS"},
					{Title: "NUMBER"},
					{Title: "USER", Drops: 2},
					{Title: "ABOUT", Shrinks: true},
					{Title: "BY", Drops: 1},
					{Title: "ID"},
				},
				Row: func(one *parlancev1.Callback) []term.Cell {
					return []term.Cell{
						{Text: client.Moment(one.GetAt())},
						s.statusCell(one),
						{Text: one.GetPhoneNumber()},
						{Text: term.Clean(one.GetUserId())},
						{Text: term.Clean(one.GetReason())},
						{Text: one.GetCreatedBy()},
						{Text: one.GetId(), Paint: s.Screen.Dim},
					}
				},
				Empty: "There is no such callback. Plan one: parlance callbacks create +49… --in 10m",
			})
		}),
	}
	o.Add(cmd.Flags())
	cmd.Flags().StringVar(&req.Status, "status", "",
		"only those that are scheduled, dialing, in_progress, completed, no_answer, failed or canceled")
	cmd.Flags().StringVar(&req.AgentId, "agent", "", "only those of this agent, agt_…")
	cmd.Flags().StringVar(&req.UserId, "user", "", "only those to this user")
	cmd.Flags().StringVar(&req.ScheduleId, "schedule", "", "only those of this schedule, sch_…")
	cmd.Flags().StringVar(&req.BatchId, "batch", "", "only those of this batch, bat_…")
	within.add(cmd, "only those planned for this time or later: a day, a local time, or RFC 3339", "only those planned for before this time")
	return cmd
}

func (s *service) statusCell(one *parlancev1.Callback) term.Cell {
	words, paint := one.GetStatus(), s.Screen.Busy
	switch one.GetStatus() {
	case "completed":
		paint = s.Screen.Good
	case "no_answer", "failed":
		paint = s.Screen.Bad
	case "canceled":
		paint = s.Screen.Dim
	}
	switch {
	case one.GetEndReason() != "" && one.GetEndReason() != one.GetStatus():
		words += ": " + term.Clean(one.GetEndReason())
	case one.GetWaitsFor() != "":
		words += ", waits: " + one.GetWaitsFor()
	case one.GetStatus() == "scheduled" && len(one.GetAttempts()) > 0:
		words += ", again " + client.Moment(one.GetNextAttemptAt())
	}
	return term.Cell{Text: words, Paint: paint}
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show CALLBACK", Aliases: []string{"get"}, Short: "Show a callback and its attempts", Args: command.ExactArgs("CALLBACK"),
		Example: `  parlance callbacks show cb_01j…
  parlance callbacks show cb_01j… --json | jq -r .session_id`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			one, err := s.callbacks.GetCallback(ctx, &parlancev1.GetCallbackRequest{WorkspaceId: s.WorkspaceID, CallbackId: args[0]})
			if err != nil {
				return s.explain("find the callback", "callbacks", args[0], err)
			}
			return s.print(one, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the callback as a line of JSON")
	return cmd
}

func (s *service) print(one *parlancev1.Callback, asJSON bool) error {
	if asJSON {
		return s.PrintMessage(one)
	}
	status := s.statusCell(one)
	s.Screen.Line("%s  %s  %s", s.Screen.Strong(one.GetPhoneNumber()), status.Paint(status.Text), s.Screen.Dim(one.GetId()))
	s.Fact("at", inZone(one.GetAt(), one.GetTimezone()))
	if next := one.GetNextAttemptAt(); next != nil && !next.AsTime().Equal(one.GetAt().AsTime()) {
		s.Fact("next attempt", inZone(next, one.GetTimezone()))
	}
	s.Fact("time zone", one.GetTimezone())
	s.Fact("about", one.GetReason())
	s.Fact("user", one.GetUserId())
	s.Fact("agent", one.GetAgentId())
	s.Fact("planned by", one.GetCreatedBy())
	s.Fact("asked for in", one.GetOriginSessionId())
	s.Fact("schedule", one.GetScheduleId())
	s.Fact("batch", one.GetBatchId())
	s.printVariables(one.GetDynamicVariables())
	for _, a := range one.GetAttempts() {
		s.Fact(fmt.Sprintf("attempt %d of %d", a.GetNumber(), one.GetMaxAttempts()), attemptWords(a))
	}
	s.Fact("session", one.GetSessionId())
	s.Fact("ended", client.Moment(one.GetEndedAt()))
	return nil
}

func attemptWords(a *parlancev1.CallbackAttempt) string {
	words := client.Moment(a.GetStartedAt()) + "  " + a.GetStatus()
	if a.GetEndReason() != "" && a.GetEndReason() != a.GetStatus() {
		words += ": " + a.GetEndReason()
	}
	if a.GetDurationSeconds() > 0 {
		words += ", " + term.Took(time.Duration(a.GetDurationSeconds())*time.Second)
	}
	return words + "  " + a.GetCallId()
}

func (s *service) printVariables(variables map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		s.Fact("variable", name+"="+variables[name])
	}
}
