package calls

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/phone"
)

// callOptions are the flags of `parlance call`.
type callOptions struct {
	agent, user, reason, to       string
	wait                          bool
	calls                         int
	answer, machine, busy, reject bool
	words                         []words
	voice, press, record          string
	pause, hangUpAfter            time.Duration
	json                          bool
}

// NewCall makes `parlance call`.
func NewCall() *cobra.Command {
	var o callOptions
	cmd := &cobra.Command{
		Use: "call NUMBER", Short: "Be a telephone in the terminal, and have an agent call it", GroupID: "use",
		Args: command.ExactArgs("NUMBER"),
		Long: `Is the telephone with a number of your choice on the simulated line of parlance dev, and has an agent call it at
once. No carrier is needed, and nothing is paid. With --to the phone calls an agent (parlance numbers) instead; with
--wait it is only there, for callbacks, schedules, batches and transfers.

At a terminal it rings: Enter answers, r rejects, q hangs up, and digits are pressed, each followed by Enter. You speak
by the microphone and hear the loudspeaker, if the machine has programs for them (see parlance chat --help).

Without a person the phone answers when it is told what to do (--answer, --play, --say, --press, --hang-up-after). Words
are said in the order of the flags, each when the other side has been silent for --pause after it spoke, or has said
nothing for 10 s. When the answer to the last words is over, the phone hangs up, unless --hang-up-after says when.

At the end it prints how the callback ended and what was said. The exit code is 0 when it was completed.`,
		Example: `  parlance call +12015550123
  parlance call +12015550123 --say "Hello, who is this?" --say "Thank you, goodbye." --record heard.wav
  parlance call +12015550123 --play question.wav --press 12# --json
  parlance call +12015550123 --machine                          # does the agent leave a message?
  parlance call +12015550123 --busy                             # and when does it call again?
  parlance call +12015550123 --to +12015550199                  # call an agent
  parlance call +12015550123 --wait --answer --calls 2          # take the calls of a batch`,
	}
	cmd.RunE = with(func(ctx context.Context, s *service, args []string) error {
		number, ok := phone.Parse(args[0])
		if !ok {
			return command.Usagef("%q is no number with its country's code, such as +12015550123; any will do, it rings here", term.Clean(args[0]))
		}
		if err := o.check(cmd); err != nil {
			return err
		}
		return s.call(ctx, number.E164, o)
	})
	o.add(cmd)
	client.AddWorkspace(cmd)
	return cmd
}

func (o *callOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.agent, "agent", "", "the agent that calls, agt_… ["+command.EnvAgent+"]; default: the only one")
	flags.StringVar(&o.user, "user", "", "who is called, as sessions name it; default: the number")
	flags.StringVar(&o.reason, "reason", "", "what the call is about; the agent knows it")
	flags.StringVar(&o.to, "to", "", "call this number, which an agent answers, instead of being called")
	flags.BoolVar(&o.wait, "wait", false, "only be the phone, until Ctrl-C or for --calls")
	flags.IntVar(&o.calls, "calls", 0, "with --wait: end after so many calls; 0: do not end")
	flags.BoolVar(&o.answer, "answer", false, "pick up without asking")
	flags.BoolVar(&o.machine, "machine", false, "be an answering machine; words are said at once, as its greeting")
	flags.BoolVar(&o.busy, "busy", false, "be busy")
	flags.BoolVar(&o.reject, "reject", false, "reject calls")
	flags.Var(wordsFlag{true, &o.words}, "play", "say this WAV file, or bare µ-law at 8 kHz; may be repeated")
	flags.Var(wordsFlag{false, &o.words}, "say", "say this text, by espeak-ng; may be repeated")
	flags.StringVar(&o.voice, "voice", "en-us", "voice of espeak-ng for --say, such as de")
	flags.DurationVar(&o.pause, "pause", 4*time.Second, "how long the other side is silent before the next words")
	flags.StringVar(&o.press, "press", "", "press these keys after the words")
	flags.StringVar(&o.record, "record", "", "write what is heard to this WAV file")
	flags.DurationVar(&o.hangUpAfter, "hang-up-after", 0, "hang up so long after the call was answered")
	flags.BoolVar(&o.json, "json", false, "print each event, turn and result as a line of JSON")
}

// answersAlone reports whether the phone answers without a person.
func (o *callOptions) answersAlone() bool {
	return o.answer || o.machine || len(o.words) > 0 || o.press != "" || o.hangUpAfter > 0
}

// check refuses flags that do not go together.
func (o *callOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	refusals := 0
	for _, one := range []bool{o.busy, o.reject, o.answersAlone() || o.record != ""} {
		if one {
			refusals++
		}
	}
	switch {
	case refusals > 1:
		return command.Usagef("--busy and --reject do not answer: leave out what is done in a call, and one of them")
	case o.wait && o.to != "":
		return command.Usagef("--wait and --to contradict each other")
	case o.calls != 0 && !o.wait:
		return command.Usagef("--calls is for --wait")
	case o.calls < 0 || o.pause < 0 || o.hangUpAfter < 0:
		return command.Usagef("--calls, --pause and --hang-up-after cannot be negative")
	case o.to != "" && (o.busy || o.reject || o.machine):
		return command.Usagef("--to calls: nobody calls this phone, which could be --busy, --reject or --machine")
	case strings.Trim(o.press, audio.Keys) != "":
		return command.Usagef("--press %q: the keys of a telephone are %s", o.press, audio.Keys)
	case given("voice") && len(o.words) == 0:
		return command.Usagef("--voice is for --say")
	}
	for _, flag := range []string{"agent", "user", "reason"} {
		if given(flag) && (o.wait || o.to != "") {
			return command.Usagef("--%s is for a call that an agent makes: leave out --wait and --to", flag)
		}
	}
	return nil
}

// call opens the line, begins the call, and is the phone until it is over.
func (s *service) call(ctx context.Context, number string, o callOptions) (err error) {
	to := phone.Number{}
	if o.to != "" {
		var ok bool
		if to, ok = phone.Parse(o.to); !ok {
			return command.Usagef("--to %q is no number with its country's code; `parlance numbers ls` lists those that agents answer", o.to)
		}
	}
	steps, err := o.steps(ctx)
	if err != nil {
		return err
	}
	transport, err := s.SocketClient()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	opened, err := openLine(ctx, s.Installation, transport, number)
	if err != nil {
		return err
	}
	defer opened.close()
	h := &handset{service: s, o: o, number: number, line: opened, steps: steps, interactive: term.IsTerminal(s.In)}
	defer func() { err = errors.Join(err, h.parts.close()) }()
	if err := h.openSound(ctx); err != nil {
		return err
	}
	if o.machine {
		if err := opened.send(ctx, event{Event: "machine"}); err != nil {
			return err
		}
	}
	switch {
	case o.wait:
		return h.wait(ctx)
	case o.to != "":
		return h.dial(ctx, to.E164)
	}
	return h.beCalled(ctx)
}

// chooseAgent returns the agent that calls: the one that a flag or the installation names, or else
// the only one.
func (s *service) chooseAgent(ctx context.Context, given string) (string, error) {
	agent, err := s.ChooseAgent(given)
	if err == nil {
		return agent, nil
	}
	page, listErr := s.Agents.ListAgents(ctx, &parlancev1.ListAgentsRequest{WorkspaceId: s.WorkspaceID, PageSize: 2})
	if listErr != nil {
		return "", s.Explain("find an agent", listErr)
	}
	if len(page.GetAgents()) != 1 {
		return "", err
	}
	return page.GetAgents()[0].GetId(), nil
}
