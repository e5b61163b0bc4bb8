package callbacks

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// scheduleOptions are the flags for the fields of a schedule.
type scheduleOptions struct {
	agent, number, cron, zone, reason, startsAt, endsAt string
	exceptions, variables                               []string
	enabled, json                                       bool
}

func (o *scheduleOptions) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.agent, "agent", "", "the agent that calls, agt_…")
	flags.StringVar(&o.cron, "cron", "",
		`when: minute, hour, day of the month, month, day of the week, such as "0 9 * * MON-FRI"; or @daily, @weekly, @monthly`)
	flags.StringVar(&o.zone, "timezone", "", "IANA time zone of --cron; default: that of the number where it has one only, else UTC")
	flags.StringVar(&o.reason, "reason", "", "what the calls are about; the agent knows it")
	flags.StringVar(&o.startsAt, "starts-at", "", "first time it may run: a day, a local time of --timezone, or RFC 3339; default: now")
	flags.StringVar(&o.endsAt, "ends-at", "", "from when on it does not run; default: for ever")
	flags.StringSliceVar(&o.exceptions, "except", nil, "days on which it does not run, 2026-12-24,2026-12-25")
	flags.StringArrayVar(&o.variables, "var", nil, "a variable of the conversations, NAME=VALUE; may be repeated")
	flags.BoolVar(&o.enabled, "enabled", true, "run; --enabled=false does not")
	flags.BoolVar(&o.json, "json", false, "print the schedule as a line of JSON")
}

// parsed are the flags that are more than texts.
func (o *scheduleOptions) parsed() (starts, ends *timestamppb.Timestamp, variables map[string]string, err error) {
	if starts, err = momentOf("starts-at", o.startsAt, o.zone); err != nil {
		return nil, nil, nil, err
	}
	if ends, err = momentOf("ends-at", o.endsAt, o.zone); err != nil {
		return nil, nil, nil, err
	}
	variables, err = command.Variables(o.variables)
	return starts, ends, variables, err
}

func newCreateSchedule() *cobra.Command {
	var o scheduleOptions
	var user string
	cmd := &cobra.Command{
		Use: "create NUMBER", Short: "Have an agent call a number again and again", Args: command.ExactArgs("NUMBER"),
		Long: `Makes a schedule, and shows its next ten runs. A run in a local hour that does not exist, because clocks are set
forward, is at the end of the gap; one in an hour that comes twice is in the first.`,
		Example: `  parlance schedules create +4930123456 --cron "0 9 * * MON-FRI" --timezone Europe/Berlin --reason "The daily check"
  parlance schedules create +4930123456 --cron @weekly --ends-at 2027-01-01 --except 2026-12-27 --user ada@example.org`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			if o.cron == "" {
				return command.Usagef(`--cron is missing: when to call, such as --cron "0 9 * * MON-FRI" for nine o'clock on working days`)
			}
			starts, ends, variables, err := o.parsed()
			if err != nil {
				return err
			}
			agent, err := s.ChooseAgent(o.agent)
			if err != nil {
				return err
			}
			made, err := s.callbacks.CreateCallbackSchedule(ctx, &parlancev1.CreateCallbackScheduleRequest{
				WorkspaceId: s.WorkspaceID, AgentId: agent, UserId: userOr(user, args[0]), PhoneNumber: args[0], Cron: o.cron, Timezone: o.zone,
				Reason: o.reason, StartsAt: starts, EndsAt: ends, Exceptions: o.exceptions, Enabled: &o.enabled, DynamicVariables: variables,
			})
			if err != nil {
				return s.Explain("make the schedule", err)
			}
			return s.printSchedule(made, o.json)
		}),
	}
	o.add(cmd.Flags())
	cmd.Flags().StringVar(&user, "user", "", "who is called, as sessions name it; default: the number")
	return cmd
}

// scheduleUpdates maps the flags of update to the fields that they change.
var scheduleUpdates = map[string]string{
	"agent": "agent_id", "number": "phone_number", "cron": "cron", "timezone": "timezone", "reason": "reason", "starts-at": "starts_at",
	"ends-at": "ends_at", "except": "exceptions", "enabled": "enabled", "var": "dynamic_variables", "no-vars": "dynamic_variables",
}

func newUpdateSchedule() *cobra.Command {
	var o scheduleOptions
	var noVariables bool
	cmd := &cobra.Command{
		Use: "update SCHEDULE", Short: "Change a schedule, or stop it for a while", Args: command.ExactArgs("SCHEDULE"),
		Long: `Changes what is given and keeps the rest. --except and --var replace all that there were; --except "",
--starts-at "" and --ends-at "" take them away. With --enabled=false its callbacks that are scheduled are canceled.`,
		Example: `  parlance schedules update sch_01j… --cron "30 8 * * MON"
  parlance schedules update sch_01j… --enabled=false
  parlance schedules update sch_01j… --except 2026-12-24,2026-12-25 --ends-at ""`,
	}
	cmd.RunE = with(func(ctx context.Context, s *service, args []string) error {
		if noVariables && len(o.variables) > 0 {
			return command.Usagef("--var and --no-vars contradict each other")
		}
		req, err := o.request(cmd.Flags())
		if err != nil {
			return err
		}
		if req.AgentId != nil {
			if *req.AgentId, err = s.ChooseAgent(o.agent); err != nil {
				return err
			}
		}
		req.WorkspaceId, req.ScheduleId = s.WorkspaceID, args[0]
		changed, err := s.callbacks.UpdateCallbackSchedule(ctx, req)
		if err != nil {
			return s.explain("change the schedule", "schedules", args[0], err)
		}
		return s.printSchedule(changed, o.json)
	})
	o.add(cmd.Flags())
	cmd.Flags().StringVar(&o.number, "number", "", "the number, with its country's code")
	cmd.Flags().BoolVar(&noVariables, "no-vars", false, "take all variables away")
	return cmd
}

// request makes the request of the flags that were given.
func (o *scheduleOptions) request(flags *pflag.FlagSet) (*parlancev1.UpdateCallbackScheduleRequest, error) {
	mask, err := maskOf(flags, scheduleUpdates, `--cron "30 8 * * MON"`)
	if err != nil {
		return nil, err
	}
	starts, ends, variables, err := o.parsed()
	if err != nil {
		return nil, err
	}
	req := &parlancev1.UpdateCallbackScheduleRequest{
		StartsAt: starts, EndsAt: ends, Exceptions: o.exceptions, DynamicVariables: variables, UpdateMask: mask,
	}
	for name, set := range map[string]func(){ // an empty one is refused
		"agent": func() { req.AgentId = &o.agent }, "number": func() { req.PhoneNumber = &o.number }, "cron": func() { req.Cron = &o.cron },
		"timezone": func() { req.Timezone = &o.zone }, "reason": func() { req.Reason = &o.reason },
		"enabled": func() { req.Enabled = &o.enabled },
	} {
		if flags.Changed(name) {
			set()
		}
	}
	return req, nil
}
