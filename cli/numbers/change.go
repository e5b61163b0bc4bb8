package numbers

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// options are the flags for the fields of a number.
type options struct {
	agent, name, lookupURL string
	variables              []string
	enabled, json          bool
}

func (o *options) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.agent, "agent", "", "the agent that answers, agt_…")
	flags.StringVar(&o.name, "name", "", "what the number is for, for people")
	flags.StringVar(&o.lookupURL, "lookup-url", "", "https URL of yours that is asked before a call is answered")
	flags.StringArrayVar(&o.variables, "var", nil, "a variable of the conversations, NAME=VALUE; may be repeated")
	flags.BoolVar(&o.enabled, "enabled", true, "answer calls; --enabled=false rejects them")
	flags.BoolVar(&o.json, "json", false, "print the number as a line of JSON")
}

// fields maps flags to the fields that they change.
var fields = map[string]string{
	"agent": "agent_id", "name": "name", "lookup-url": "lookup_url", "var": "dynamic_variables", "no-vars": "dynamic_variables",
	"enabled": "enabled",
}

func newCreate() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "create NUMBER", Short: "Have an agent answer a number of the carrier's account", Args: command.ExactArgs("NUMBER"),
		Long: `Has an agent answer a number, which is given with its country's code; spaces and punctuation do not matter. The
number must be one of the carrier's account: Parlance has the carrier call it for the number from now on.

With --lookup-url your system says who is calling. It gets a signed POST (call.lookup) with the caller's number, and
has 3 seconds to answer with a user_id, variables, another agent, or {"reject": true}. Without an answer the call is
answered all the same. The requests are signed with the secret that this command prints, once, as those of
webhooks are. Variables whose names begin with secret__ can only come from there.`,
		Example: `  parlance numbers create "+1 201 555 0123" --agent agt_01j… --name "Orders, US"
  parlance numbers create +12015550123 --agent agt_01j… --lookup-url https://example.org/callers --var shop=Berlin
  parlance numbers create +12015550123 --agent agt_01j… --json | jq -r .lookup_secret > secret`,
		RunE: with(func(ctx context.Context, n *numbers, args []string) error {
			variables, err := command.Variables(o.variables)
			if err != nil {
				return err
			}
			agent, err := n.ChooseAgent(o.agent)
			if err != nil {
				return err
			}
			made, err := n.telephony.CreatePhoneNumber(ctx, &parlancev1.CreatePhoneNumberRequest{
				WorkspaceId: n.WorkspaceID, PhoneNumber: args[0], AgentId: agent, Name: o.name, LookupUrl: o.lookupURL,
				DynamicVariables: variables, Enabled: &o.enabled,
			})
			if err != nil {
				return n.Explain("add the number", err)
			}
			if o.json {
				return n.PrintMessage(made)
			}
			n.Line("%s is answered by %s (%s).", made.GetPhoneNumber(), made.GetAgentId(), made.GetId())
			if !made.GetConfigured() {
				n.Line("Have the carrier call this for it, by POST: %s", made.GetConfigureUrl())
			}
			n.showSecret(made)
			return nil
		}),
	}
	o.add(cmd.Flags())
	return cmd
}

func (n *numbers) showSecret(one *parlancev1.PhoneNumber) {
	n.Screen.Line("\n  %s\n", n.Screen.Strong(one.GetLookupSecret()))
	n.Line("This secret signs what a look-up URL is asked. It is not shown again.")
}

func newUpdate() *cobra.Command {
	var o options
	var noVariables bool
	cmd := &cobra.Command{
		Use: "update [PHONE]", Short: "Change a number: its agent, its look-up, its variables, or whether it is answered",
		Args: command.AtMostOneArg,
		Long: `Changes what is given and keeps the rest, the secret too. --var replaces all variables that there were. With
--lookup-url "" nobody is asked any more.`,
		Example: `  parlance numbers update --agent agt_01j…
  parlance numbers update +12015550123 --enabled=false
  parlance numbers update num_01j… --lookup-url https://example.org/callers --var shop=Berlin --var tier=gold`,
	}
	cmd.RunE = with(func(ctx context.Context, n *numbers, args []string) error {
		req, err := o.request(cmd.Flags())
		if err != nil {
			return err
		}
		if noVariables && len(o.variables) > 0 {
			return command.Usagef("--var and --no-vars contradict each other")
		}
		if req.AgentId != nil {
			if *req.AgentId, err = n.ChooseAgent(o.agent); err != nil {
				return err
			}
		}
		one, err := n.number(ctx, args)
		if err != nil {
			return err
		}
		req.WorkspaceId, req.NumberId = n.WorkspaceID, one.GetId()
		changed, err := n.telephony.UpdatePhoneNumber(ctx, req)
		if err != nil {
			return n.Explain("change the number", err)
		}
		if o.json {
			return n.PrintMessage(changed)
		}
		n.show(changed)
		return nil
	})
	o.add(cmd.Flags())
	cmd.Flags().BoolVar(&noVariables, "no-vars", false, "take all variables away")
	return cmd
}

// request makes the request of the flags that were given.
func (o *options) request(flags *pflag.FlagSet) (*parlancev1.UpdatePhoneNumberRequest, error) {
	variables, err := command.Variables(o.variables)
	if err != nil {
		return nil, err
	}
	req := &parlancev1.UpdatePhoneNumberRequest{
		Name: &o.name, LookupUrl: &o.lookupURL, DynamicVariables: variables, Enabled: &o.enabled, UpdateMask: &fieldmaskpb.FieldMask{},
	}
	flags.Visit(func(flag *pflag.Flag) {
		if field := fields[flag.Name]; field != "" {
			req.UpdateMask.Paths = append(req.UpdateMask.Paths, field)
		}
	})
	if len(req.GetUpdateMask().GetPaths()) == 0 {
		return nil, command.Usagef("nothing is to change: say what, such as --agent agt_…")
	}
	if flags.Changed("agent") { // an empty one is refused
		req.AgentId = &o.agent
	}
	return req, nil
}

func newRotate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "rotate-secret [PHONE]", Short: "Give a number a new secret for its look-ups; the old one signs no more",
		Args: command.AtMostOneArg,
		Long: `Makes a new secret and prints it, once. From now on look-ups are signed with it only: while the receiver still
checks with the old one it refuses them, and calls are answered without it.`,
		Example: "  parlance numbers rotate-secret num_01j…",
		RunE: with(func(ctx context.Context, n *numbers, args []string) error {
			one, err := n.number(ctx, args)
			if err != nil {
				return err
			}
			made, err := n.telephony.RotatePhoneNumberSecret(ctx, &parlancev1.RotatePhoneNumberSecretRequest{
				WorkspaceId: n.WorkspaceID, NumberId: one.GetId(),
			})
			if err != nil {
				return n.Explain("make a new secret", err)
			}
			if asJSON {
				return n.PrintMessage(made)
			}
			n.showSecret(made)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the number with its secret as a line of JSON")
	return cmd
}
