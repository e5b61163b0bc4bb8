package sessions

import (
	"bufio"
	"context"
	"fmt"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// maxMessageBytes limits a line: the API's limit of 32,000 characters, with up to 4 bytes each.
const maxMessageBytes = 4 * 32_000

func newTakeOver() *cobra.Command {
	var as string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "take-over SESSION", Short: "Take a conversation over from the agent", Args: command.ExactArgs("SESSION"),
		Long: `Gives a conversation to you, whether the agent has asked for a person or not. An answer in progress is stopped, and
the model is not asked any more: you write with parlance sessions say, until parlance sessions release gives the
conversation back. Users and the model see the name of --as.`,
		Example: `  parlance sessions ls --handover requested
  parlance sessions take-over ses_01j… --as Grace
  parlance sessions say ses_01j… "I have found your order."`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			name := as
			if name == "" {
				me, err := user.Current()
				if err != nil {
					return command.Usagef("--as is missing: your name, as users see it")
				}
				name = me.Username
			}
			taken, err := s.sessions.TakeOverSession(ctx, &parlancev1.TakeOverSessionRequest{SessionId: args[0], Operator: name})
			if err != nil {
				return s.explain("take the conversation over", args[0], err)
			}
			if asJSON {
				return s.PrintMessage(taken)
			}
			s.Line("%s has the conversation with %s.", taken.GetHandover().GetOperator(), taken.GetUserId())
			s.printHandover(taken.GetHandover())
			s.Line(`Write: parlance sessions say %s "…"  Give it back: parlance sessions release %s`, taken.GetId(), taken.GetId())
			return nil
		}),
	}
	cmd.Flags().StringVar(&as, "as", "", "your name, as users and the model see it; default: that of your account on this machine")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the session as a line of JSON")
	return cmd
}

func newSay() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "say SESSION [TEXT…]", Short: "Write to the user of a conversation that you have taken over",
		Args: command.SomeArgs("SESSION"),
		Long: `Says something to the user in place of the agent; in a spoken conversation it is spoken. Take the conversation over
first. Without a text each line of the input is a message, until Ctrl-D.`,
		Example: `  parlance sessions say ses_01j… "I have found your order, it arrives tomorrow."
  parlance sessions say ses_01j… < answer.txt`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			if len(args) > 1 {
				return s.say(ctx, args[0], strings.Join(args[1:], " "), asJSON)
			}
			lines := bufio.NewScanner(s.In)
			lines.Buffer(nil, maxMessageBytes)
			for lines.Scan() {
				if text := strings.TrimSpace(lines.Text()); text != "" {
					if err := s.say(ctx, args[0], text, asJSON); err != nil {
						return err
					}
				}
			}
			if err := lines.Err(); err != nil {
				return fmt.Errorf("read the input: %w", err)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each message as a line of JSON: the turn that it is")
	return cmd
}

// say sends one message to the user.
func (s *service) say(ctx context.Context, session, text string, asJSON bool) error {
	turn, err := s.sessions.SendOperatorMessage(ctx, &parlancev1.SendOperatorMessageRequest{SessionId: session, Text: text})
	if err != nil {
		return s.explain("write to the user", session, err)
	}
	if asJSON {
		return s.PrintMessage(turn)
	}
	s.Line("said (%s)", turn.GetId())
	return nil
}

func newRelease() *cobra.Command {
	var note string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "release SESSION", Short: "Give a conversation back to the agent", Args: command.ExactArgs("SESSION"),
		Long: `The agent answers the next message of the user, and knows what you have written. --note tells it more, which the
user does not see. A request for a person that nobody took is withdrawn.`,
		Example: `  parlance sessions release ses_01j… --note "The refund is granted; do not offer another one."`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			released, err := s.sessions.ReleaseSession(ctx, &parlancev1.ReleaseSessionRequest{SessionId: args[0], Note: note})
			if err != nil {
				return s.explain("give the conversation back", args[0], err)
			}
			if asJSON {
				return s.PrintMessage(released)
			}
			s.Line("The agent has the conversation with %s.", released.GetUserId())
			return nil
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "what the model should know, at most 4,000 characters")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the session as a line of JSON")
	return cmd
}

// printHandover prints who has the conversation, and what a person who takes it over should know.
func (s *service) printHandover(h *parlancev1.SessionHandover) {
	s.Fact("person", map[string]string{"requested": "asked for", "operator": h.GetOperator()}[h.GetStatus()])
	s.Fact("asked for at", client.Moment(h.GetRequestedAt()))
	s.Fact("taken over at", client.Moment(h.GetTakenAt()))
	s.Fact("destination", h.GetDestination())
	for _, one := range [][2]string{{"why", h.GetReason()}, {"to know", h.GetSummary()}} {
		for i, line := range term.CleanLines(one[1]) {
			name := one[0]
			if i > 0 {
				name = ""
			}
			s.Fact(name, line)
		}
	}
}
