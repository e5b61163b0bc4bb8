package callbacks

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/phone"
)

func newCreate() *cobra.Command {
	req := &parlancev1.CreateCallbackRequest{}
	var in time.Duration
	var variables []string
	var asJSON bool
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use: "create NUMBER", Short: "Plan a call to a user", Args: command.ExactArgs("NUMBER"),
		Long: `Plans a call to a number, which is given with its country's code; spaces and punctuation do not matter. Without
--at and --in the agent calls at once.

The agent does not call in quiet hours, soon after another call, or somebody who has not agreed, as its callback
settings say: the command is refused and tells when it may call. --ignore-limits calls in quiet hours, and soon after
another call, too.`,
		Example: `  parlance callbacks create "+49 30 123456"
  parlance callbacks create +4930123456 --in 30m --user ada@example.org --reason "Her question about order 7"
  parlance callbacks create +4930123456 --at 2026-12-01T09:00 --timezone Europe/Berlin --var order=7`,
		RunE: with(func(ctx context.Context, s *service, args []string) (err error) {
			isTimed := cmd.Flags().Changed("at")
			if isTimed && in != 0 {
				return command.Usagef("--at and --in contradict each other")
			}
			if in < 0 || in > 0 && in < time.Minute {
				return command.Usagef("--in is at least a minute: 1m; without it the agent calls at once")
			}
			if !isTimed && in == 0 {
				req.At = "now"
			}
			req.WorkspaceId, req.PhoneNumber, req.InMinutes = s.WorkspaceID, args[0], int32((in+time.Minute-1)/time.Minute)
			if req.AgentId, err = s.ChooseAgent(req.AgentId); err != nil {
				return err
			}
			if req.DynamicVariables, err = command.Variables(variables); err != nil {
				return err
			}
			req.UserId = userOr(req.UserId, args[0])
			made, err := s.callbacks.CreateCallback(ctx, req)
			if err != nil {
				return s.Explain("plan the call", err)
			}
			return s.print(made, asJSON)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&req.AgentId, "agent", "", "the agent that calls, agt_…")
	flags.StringVar(&req.UserId, "user", "", "who is called, as sessions name it; default: the number")
	flags.StringVar(&req.At, "at", "", "when: RFC 3339, or a local time of --timezone, such as 2026-12-01T09:00; default: at once")
	flags.DurationVar(&in, "in", 0, "in how long, such as 30m or 2h; rounded up to minutes")
	flags.StringVar(&req.Timezone, "timezone", "", "IANA time zone of the user; default: that of the number where it has one only, else UTC")
	flags.StringVar(&req.Reason, "reason", "", "what the call is about; the agent knows it")
	flags.StringArrayVar(&variables, "var", nil, "a variable of the conversation, NAME=VALUE; may be repeated")
	flags.BoolVar(&req.IgnoreLimits, "ignore-limits", false, "call in quiet hours, and soon after another call, too")
	flags.BoolVar(&asJSON, "json", false, "print the callback as a line of JSON")
	return cmd
}

// userOr is the user that was given, or else the number as sessions name it.
func userOr(user, number string) string {
	if user != "" {
		return user
	}
	if parsed, ok := phone.Parse(number); ok {
		return parsed.E164
	}
	return number
}

// updates maps the flags of update to the fields that they change.
var updates = map[string]string{
	"at": "at", "number": "phone_number", "timezone": "timezone", "reason": "reason", "ignore-limits": "ignore_limits",
}

// maskOf lists the fields of the flags that were given. It is an error when there is none.
func maskOf(flags *pflag.FlagSet, fields map[string]string, example string) (*fieldmaskpb.FieldMask, error) {
	mask := &fieldmaskpb.FieldMask{}
	flags.Visit(func(flag *pflag.Flag) {
		if field := fields[flag.Name]; field != "" {
			mask.Paths = append(mask.Paths, field)
		}
	})
	if len(mask.GetPaths()) == 0 {
		return nil, command.Usagef("nothing is to change: say what, such as %s", example)
	}
	return mask, nil
}

func newUpdate() *cobra.Command {
	var at, number, zone, reason string
	var ignore, asJSON bool
	cmd := &cobra.Command{
		Use: "update CALLBACK", Short: "Change a callback that is scheduled", Args: command.ExactArgs("CALLBACK"),
		Long: `Changes what is given and keeps the rest. A new time begins the attempts anew; --at now calls at once. A callback
that is dialed, or over, is not changed.`,
		Example: `  parlance callbacks update cb_01j… --at 2026-12-02T10:30
  parlance callbacks update cb_01j… --at now --ignore-limits`,
	}
	cmd.RunE = with(func(ctx context.Context, s *service, args []string) (err error) {
		req := &parlancev1.UpdateCallbackRequest{WorkspaceId: s.WorkspaceID, CallbackId: args[0]}
		if req.UpdateMask, err = maskOf(cmd.Flags(), updates, "--at 2026-12-01T09:00"); err != nil {
			return err
		}
		for name, field := range map[string]func(){
			"at": func() { req.At = &at }, "number": func() { req.PhoneNumber = &number }, "timezone": func() { req.Timezone = &zone },
			"reason": func() { req.Reason = &reason }, "ignore-limits": func() { req.IgnoreLimits = &ignore },
		} {
			if cmd.Flags().Changed(name) {
				field()
			}
		}
		changed, err := s.callbacks.UpdateCallback(ctx, req)
		if err != nil {
			return s.explain("change the callback", "callbacks", args[0], err)
		}
		return s.print(changed, asJSON)
	})
	flags := cmd.Flags()
	flags.StringVar(&at, "at", "", "when: RFC 3339, a local time of the callback's time zone, or now")
	flags.StringVar(&number, "number", "", "the number, with its country's code")
	flags.StringVar(&zone, "timezone", "", "IANA time zone of the user")
	flags.StringVar(&reason, "reason", "", "what the call is about")
	flags.BoolVar(&ignore, "ignore-limits", false, "call in quiet hours, and soon after another call, too")
	flags.BoolVar(&asJSON, "json", false, "print the callback as a line of JSON")
	return cmd
}

func newCancel() *cobra.Command {
	return &cobra.Command{
		Use: "cancel CALLBACK…", Short: "Cancel callbacks; a call that rings or is in progress is hung up",
		Args:    command.SomeArgs("CALLBACK"),
		Long:    `Cancels callbacks that are not over. One that is over stays as it is.`,
		Example: "  parlance callbacks cancel cb_01j…",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			for _, id := range args {
				one, err := s.callbacks.CancelCallback(ctx, &parlancev1.CancelCallbackRequest{WorkspaceId: s.WorkspaceID, CallbackId: id})
				if err != nil {
					return s.explain("cancel the callback", "callbacks", id, err)
				}
				s.Line("%s %s (%s)", one.GetStatus(), one.GetId(), one.GetPhoneNumber())
			}
			return nil
		}),
	}
}
