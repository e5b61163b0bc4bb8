package numbers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/phone"
)

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "numbers", Short: "Have agents answer telephone numbers", GroupID: "use", Args: command.ExactArgs(),
		Long: `An agent answers the calls for a number of your account at a carrier. Parlance tells the carrier to call it for the
number; nothing is to be set up there. Before a call is answered, a URL of yours can be asked who is calling.
Without flags the commands work on the parlance dev of this machine. A number is named by its id (num_…), as it
is dialled, or not at all while there is only one.

The carrier's account comes first: the workspace's credential of the kind telephony, or the installation's own.`,
		Example: `  parlance numbers create "+1 201 555 0123" --agent agt_01j…
  parlance numbers update --lookup-url https://example.org/callers
  parlance numbers ls`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newList(), newShow(), newCreate(), newUpdate(), newRotate(), newRemove())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// numbers is what the commands share.
type numbers struct {
	client.Caller
	telephony parlancev1connect.TelephonyServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, n *numbers, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *numbers {
		return &numbers{Caller: c, telephony: parlancev1connect.NewTelephonyServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

// page lists the numbers of the workspace from a token on.
func (n *numbers) page(ctx context.Context, token string) ([]*parlancev1.PhoneNumber, string, error) {
	page, err := n.telephony.ListPhoneNumbers(ctx, &parlancev1.ListPhoneNumbersRequest{
		WorkspaceId: n.WorkspaceID, PageSize: client.PageSize, PageToken: token,
	})
	if err != nil {
		return nil, "", n.Explain("list the numbers", err)
	}
	return page.GetPhoneNumbers(), page.GetNextPageToken(), nil
}

// number finds a number by its id or as it is dialled. Without arguments it returns the only one.
func (n *numbers) number(ctx context.Context, args []string) (*parlancev1.PhoneNumber, error) {
	if len(args) > 0 && strings.HasPrefix(args[0], "num_") {
		found, err := n.telephony.GetPhoneNumber(ctx, &parlancev1.GetPhoneNumberRequest{WorkspaceId: n.WorkspaceID, NumberId: args[0]})
		if connect.CodeOf(err) == connect.CodeNotFound {
			return nil, noSuch(args[0])
		}
		if err != nil {
			return nil, n.Explain("find the number", err)
		}
		return found, nil
	}
	all, err := command.All(func(token string) ([]*parlancev1.PhoneNumber, string, error) { return n.page(ctx, token) })
	if err != nil {
		return nil, err
	}
	found := all
	if len(args) > 0 {
		dialled, ok := phone.Parse(args[0])
		if !ok {
			return nil, command.Usagef("%q is no number: give its id, num_…, or the number with its country's code, +49…", term.Clean(args[0]))
		}
		found = slices.DeleteFunc(slices.Clone(all), func(one *parlancev1.PhoneNumber) bool { return one.GetPhoneNumber() != dialled.E164 })
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("there is no number yet; add one: parlance numbers create +49…")
	case len(found) == 0:
		return nil, noSuch(args[0])
	case len(found) > 1:
		return nil, command.Usagef("which number? Say one of\n%s", choices(found))
	}
	return found[0], nil
}

func noSuch(named string) error {
	return fmt.Errorf("there is no number %s in the workspace; `parlance numbers ls` lists them", term.Clean(named))
}

// choices lists the first numbers to choose from.
func choices(list []*parlancev1.PhoneNumber) string {
	const most = 5
	var lines []string
	for _, one := range list[:min(len(list), most)] {
		lines = append(lines, "  "+one.GetId()+"  "+one.GetPhoneNumber()+"  "+term.Clean(one.GetName()))
	}
	if more := len(list) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("  or %d others: parlance numbers ls", more))
	}
	return strings.Join(lines, "\n")
}

func newList() *cobra.Command {
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the numbers, newest first", Args: command.ExactArgs(),
		Example: `  parlance numbers ls
  parlance numbers ls --json | jq -r 'select(.enabled) | .phone_number'`,
		RunE: with(func(ctx context.Context, n *numbers, _ []string) error {
			return client.List(&n.Caller, o, client.Listing[*parlancev1.PhoneNumber]{
				Pages: func(token string) ([]*parlancev1.PhoneNumber, string, error) { return n.page(ctx, token) },
				Columns: []term.Column{
					{Title: "NUMBER"},
					{Title: "STATUS"},
					{Title: "AGENT"},
					{Title: "NAME", Shrinks: true},
					{Title: "ID"},
				},
				Row: func(one *parlancev1.PhoneNumber) []term.Cell {
					return []term.Cell{
						{Text: one.GetPhoneNumber()},
						n.statusCell(one),
						{Text: one.GetAgentId()},
						{Text: term.Clean(one.GetName())},
						{Text: one.GetId(), Paint: n.Screen.Dim},
					}
				},
				Empty: "There is no number. Add one: parlance numbers create +49…",
			})
		}),
	}
	o.Add(cmd.Flags())
	return cmd
}

func (n *numbers) statusCell(one *parlancev1.PhoneNumber) term.Cell {
	switch {
	case !one.GetEnabled():
		return term.Cell{Text: "rejects calls", Paint: n.Screen.Dim}
	case !one.GetConfigured():
		return term.Cell{Text: "not set up", Paint: n.Screen.Bad}
	}
	return term.Cell{Text: "answers", Paint: n.Screen.Good}
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show [PHONE]", Aliases: []string{"get"}, Short: "Show a number, and what the carrier calls for it",
		Args: command.AtMostOneArg,
		Example: `  parlance numbers show +12015550123
  parlance numbers show num_01j… --json | jq -r .configure_url`,
		RunE: with(func(ctx context.Context, n *numbers, args []string) error {
			one, err := n.number(ctx, args)
			if err != nil {
				return err
			}
			if asJSON {
				return n.PrintMessage(one)
			}
			n.show(one)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the number as a line of JSON")
	return cmd
}

func (n *numbers) show(one *parlancev1.PhoneNumber) {
	status := n.statusCell(one)
	n.Screen.Line("%s  %s  %s", n.Screen.Strong(one.GetPhoneNumber()), status.Paint(status.Text), n.Screen.Dim(one.GetId()))
	n.Fact("name", one.GetName())
	n.Fact("agent", one.GetAgentId())
	n.Fact("asks", one.GetLookupUrl())
	n.Fact("secret", "whsec_…"+one.GetLookupSecretHint())
	for _, name := range slices.Sorted(maps.Keys(one.GetDynamicVariables())) {
		n.Fact("variable", name+"="+one.GetDynamicVariables()[name])
	}
	n.Fact("the carrier calls", one.GetConfigureUrl())
	n.Fact("made", client.Moment(one.GetCreatedAt()))
}

func newRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm PHONE…", Aliases: []string{"remove", "delete"}, Short: "Stop answering numbers; the carrier keeps them",
		Args: command.SomeArgs("PHONE"),
		Long: `Calls for the numbers are answered no more. The carrier's account keeps the numbers and goes on calling Parlance for
them, which rejects the calls. To stop only for a while: parlance numbers update PHONE --enabled=false`,
		Example: "  parlance numbers rm +12015550123",
		RunE: with(func(ctx context.Context, n *numbers, args []string) error {
			for i := range args {
				one, err := n.number(ctx, args[i:i+1])
				if err != nil {
					return err
				}
				_, err = n.telephony.DeletePhoneNumber(ctx,
					&parlancev1.DeletePhoneNumberRequest{WorkspaceId: n.WorkspaceID, NumberId: one.GetId()})
				if err != nil && connect.CodeOf(err) != connect.CodeNotFound { // another command deleted it
					return n.Explain("delete the number", err)
				}
				n.Line("%s is answered no more (%s)", one.GetPhoneNumber(), one.GetId())
			}
			return nil
		}),
	}
}
