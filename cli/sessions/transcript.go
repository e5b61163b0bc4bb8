package sessions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/stablejson"
)

func newTranscript() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "transcript SESSION", Short: "Print what was said, turn by turn", Args: command.ExactArgs("SESSION"),
		Example: `  parlance sessions transcript ses_01j…
  parlance sessions transcript ses_01j… --json | jq -r .agent_text`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			_, _, err := command.Each(0, s.turns(ctx, args[0]), func(turn *parlancev1.Turn) error {
				if asJSON {
					return s.PrintMessage(turn)
				}
				s.printTurn(turn)
				return nil
			})
			return err
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each turn")
	return cmd
}

// turns lists the turns of a session in order.
func (s *service) turns(ctx context.Context, session string) command.PageFunc[*parlancev1.Turn] {
	return func(token string) ([]*parlancev1.Turn, string, error) {
		page, err := s.sessions.GetTranscript(ctx, &parlancev1.GetTranscriptRequest{
			SessionId: session, PageSize: client.PageSize, PageToken: token,
		})
		if err != nil {
			return nil, "", s.explain("read the transcript", session, err)
		}
		return page.GetTurns(), page.GetNextPageToken(), nil
	}
}

func (s *service) printTurn(turn *parlancev1.Turn) {
	about := fmt.Sprintf("%d  %s  %s  %s", turn.GetIndex(), client.Moment(turn.GetStartedAt()), turn.GetStatus(), turn.GetId())
	s.Screen.Line("%s", s.Screen.Dim(about))
	s.printText("user", turn.GetUserText())
	for _, call := range turn.GetToolCalls() {
		s.Screen.Line("  %s %s %s", s.Screen.Dim(term.Pad("tool", 6)), term.Clean(call.GetSlug()), term.Clean(call.GetInputJson()))
	}
	s.printText("agent", turn.GetAgentText())
	s.printText("operator", turn.GetOperatorText())
	if failed := turn.GetError(); failed.GetCode() != "" {
		s.printText("error", failed.GetCode()+": "+failed.GetMessage())
	}
}

// printText prints what somebody said, unless it is nothing.
func (s *service) printText(who, text string) {
	if text == "" {
		return
	}
	for _, line := range term.CleanLines(text) {
		s.Screen.Line("  %s %s", s.Screen.Dim(term.Pad(who, 6)), line)
		who = ""
	}
}

func newReceipt() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "receipt SESSION [TURN]", Aliases: []string{"receipts"}, Short: "Print the receipt of a turn, or of every turn of a session",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef("SESSION is missing")
			}
			return command.AtMostOneArg(cmd, args[1:])
		},
		Long: `A receipt says what went into an answer: the model calls, passages, tool calls and memories. See docs/receipts.md.`,
		Example: `  parlance sessions receipt ses_01j… turn_01j…
  parlance sessions receipts ses_01j… --json | jq .model_calls`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			if len(args) == 2 {
				return s.receipt(ctx, args[0], args[1], asJSON)
			}
			_, _, err := command.Each(0, s.turns(ctx, args[0]), func(turn *parlancev1.Turn) error {
				if turn.GetReceiptHash() == "" {
					return nil // it has not ended
				}
				return s.receipt(ctx, args[0], turn.GetId(), asJSON)
			})
			return err
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return cmd
}

func (s *service) receipt(ctx context.Context, session, turn string, asJSON bool) error {
	receipt, err := s.sessions.GetTurnReceipt(ctx, &parlancev1.GetTurnReceiptRequest{SessionId: session, TurnId: turn})
	if err != nil {
		return s.Explain("read the receipt of "+turn, err)
	}
	if asJSON {
		return s.PrintMessage(receipt)
	}
	text, err := stablejson.Marshal(receipt)
	if err != nil {
		return err
	}
	var members any
	if err := json.Unmarshal(text, &members); err != nil {
		return fmt.Errorf("read the receipt: %w", err)
	}
	for _, line := range term.CleanLines(term.IndentedJSON(members)) {
		s.Screen.Line("%s", line)
	}
	return nil
}
