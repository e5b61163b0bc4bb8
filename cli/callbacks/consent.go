package callbacks

import (
	"context"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newConsent() *cobra.Command {
	var grant, refuse, asJSON bool
	var note string
	cmd := &cobra.Command{
		Use: "consent USER", Short: "Show or record whether a user agrees to be called", Args: command.ExactArgs("USER"),
		Long: `Agents that require consent call only users who have agreed; the others do not call users who have refused. Without
--grant and --refuse the command shows what is recorded.`,
		Example: `  parlance callbacks consent ada@example.org
  parlance callbacks consent ada@example.org --grant --note "By the form of 2 May"
  parlance callbacks consent bob@example.org --refuse`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			var consent *parlancev1.CallConsent
			var err error
			switch {
			case grant && refuse:
				return command.Usagef("--grant and --refuse contradict each other")
			case grant || refuse:
				consent, err = s.callbacks.SetCallConsent(ctx, &parlancev1.SetCallConsentRequest{
					WorkspaceId: s.WorkspaceID, UserId: args[0], Granted: &grant, Note: note,
				})
			case note != "":
				return command.Usagef("--note says how --grant or --refuse was given: give one of them")
			default:
				consent, err = s.callbacks.GetCallConsent(ctx, &parlancev1.GetCallConsentRequest{WorkspaceId: s.WorkspaceID, UserId: args[0]})
			}
			if err != nil {
				return s.Explain("look at the consent of "+args[0], err)
			}
			if asJSON {
				return s.PrintMessage(consent)
			}
			s.printConsent(consent)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&grant, "grant", false, "the user agrees to be called")
	cmd.Flags().BoolVar(&refuse, "refuse", false, "the user does not want to be called")
	cmd.Flags().StringVar(&note, "note", "", "how it was given, in your words")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the consent as a line of JSON")
	return cmd
}

func (s *service) printConsent(consent *parlancev1.CallConsent) {
	switch {
	case consent.GetRecordedAt() == nil:
		s.Line("Nothing is recorded of %s.", consent.GetUserId())
	case consent.GetGranted():
		s.Line("%s agrees to be called.", consent.GetUserId())
	default:
		s.Line("%s does not want to be called.", consent.GetUserId())
	}
	s.Fact("note", consent.GetNote())
	s.Fact("recorded", client.Moment(consent.GetRecordedAt()))
}
