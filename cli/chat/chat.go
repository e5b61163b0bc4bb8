package chat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
)

const (
	// maxTurnBytes limits a line: the API's limit of 32,000 characters, with up to 4 bytes each.
	maxTurnBytes = 4 * 32_000
	// endTimeout limits the call that ends the session.
	endTimeout = 5 * time.Second
)

// chatOptions are the flags of `parlance chat`.
type chatOptions struct {
	agent, session, user string
	// voice is a file, microphone, or bareInput; empty is a conversation in text.
	voice, voiceOut string
	json            bool
	reconnectFor    time.Duration
}

// New makes the command.
func New() *cobra.Command {
	var options chatOptions
	cmd := &cobra.Command{
		Use: "chat", Short: "Talk to an agent from the terminal", GroupID: "use",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := checkVoice(options, args); err != nil {
				return err
			}
			return command.ExactArgs()(cmd, args)
		},
		Long: `Talks to an agent of an installation over its public API; without flags to the demo agent of
the parlance dev on this machine. Each line is a turn; /quit or Ctrl-D ends the session. When
the input is not a terminal, each of its lines is a turn too, and a turn that fails ends the chat.

A connection that is lost in the middle of an answer is made again, on whatever server is there, and
the answer goes on where it was.

"/tool SLUG {…}" makes the built-in extractive responder call a tool.

With --voice you speak, by the microphone and the loudspeaker of this machine; what both sides say is
printed, and how long an answer took. Speak while the agent does to interrupt it (without headphones
it may hear itself). A line that you type is a turn as well; /mute makes the agent deaf and hearing
again, Ctrl-C ends the session. With --voice=FILE.wav the file is spoken after the agent's greeting,
and the command ends when its last utterance is answered. Programs for sound: arecord and aplay, sox,
ffmpeg, PulseAudio's, whichever is found.`,
		Example: `  parlance chat
  echo "Which file types can I upload?" | parlance chat --json
  parlance chat --voice
  parlance chat --voice=question.wav --voice-out=answer.wav
  arecord -q -t raw -f S16_LE -r 24000 | parlance chat --voice=- --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runChat(cmd, options) },
	}
	client.AddInstallation(cmd)
	cmd.Flags().StringVar(&options.agent, "agent", "", "agent to talk to, agt_… ["+command.EnvAgent+"]")
	cmd.Flags().String("workspace", "", "workspace of the agent, to show its first message ["+command.EnvWorkspace+"]")
	cmd.Flags().StringVar(&options.session, "session", "", "go on with this text session, ses_…, and leave it open")
	cmd.Flags().StringVar(&options.user, "user", "terminal", "user id of the session")
	cmd.Flags().DurationVar(&options.reconnectFor, "reconnect-for", reconnectFor,
		"how long to try to come back when the connection is lost; 0: not at all")
	cmd.Flags().BoolVar(&options.json, "json", false,
		"print each turn as one line of JSON; of a spoken conversation each event of the server, sound without its samples")
	cmd.Flags().StringVar(&options.voice, "voice", "",
		"speak: by the microphone, from a WAV file (--voice=FILE), or from the input (--voice=-: bare 16-bit mono samples at 24 kHz)")
	cmd.Flags().Lookup("voice").NoOptDefVal = microphone
	cmd.Flags().StringVar(&options.voiceOut, "voice-out", "",
		"write what the agent says to this WAV file, as it would be heard, and play nothing")
	return cmd
}

func runChat(cmd *cobra.Command, options chatOptions) error {
	where, err := client.FindInstallation(cmd, app.OSSource(nil).LookupEnv)
	if err != nil {
		return err
	}
	client, err := where.Client()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	talk := &chat{
		options: options, installation: where, in: cmd.InOrStdin(), out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(),
		terminal: term.IsTerminal(cmd.InOrStdin()),
	}
	if err := talk.connect(client); err != nil {
		return err
	}
	if options.voice != "" {
		return talk.runVoice(cmd.Context())
	}
	return talk.run(cmd.Context())
}

// chat is a conversation from a terminal or a script.
type chat struct {
	options      chatOptions
	installation client.Installation
	in           io.Reader
	out, err     io.Writer
	terminal     bool
	client       *parlance.Client
	session      string
	// socketURL is the signed URL of the session's voice socket.
	socketURL string
	// agent is the name that is shown, without control characters.
	agent string
	// answer is printed, and announced says that the loss of its connection was mentioned.
	answer    *answerPrinter
	announced bool
}

// connect makes the client of the public API.
func (c *chat) connect(http *http.Client) (err error) {
	within := c.options.reconnectFor
	if within <= 0 {
		within = -1 // not at all
	}
	c.client, err = c.installation.SDK(http, func(o *parlance.Options) { o.ReconnectFor, o.OnReconnect = within, c.lost })
	return err
}

func (c *chat) run(ctx context.Context) error {
	c.agent = "agent"
	if c.session = c.options.session; c.session == "" {
		if err := c.open(ctx); err != nil {
			return err
		}
		defer c.end(ctx)
	} else {
		// A key that may not read sessions can still talk in one.
		_, err := c.client.Sessions.GetSession(ctx, &parlancev1.GetSessionRequest{SessionId: c.session})
		if parlance.IsReason(err, parlance.ReasonNotFound) {
			return c.installation.Explain("find the session", err)
		}
	}
	lines := c.lines(ctx)
	for {
		if c.terminal {
			fmt.Fprint(c.out, "\nyou   ▸ ")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-lines:
			switch {
			case line.err != nil:
				return line.err
			case !more, line.text == "/quit":
				return nil
			case line.text == "":
				continue
			}
			err := c.turn(ctx, line.text)
			if _, refused := errors.AsType[refusedTurn](err); refused && c.terminal { // a script would not notice
				fmt.Fprintf(c.err, "parlance: %s\n", err)
			} else if err != nil {
				return err
			}
		}
	}
}

// typed is a line, or the error that ended the input.
type typed struct {
	text string
	err  error
}

// lines reads the input until it or ctx ends. A read from a terminal cannot be cancelled, so the
// goroutine may live until the process ends.
func (c *chat) lines(ctx context.Context) <-chan typed {
	lines := make(chan typed)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(c.in)
		scanner.Buffer(nil, maxTurnBytes)
		for scanner.Scan() {
			select {
			case lines <- typed{text: strings.TrimSpace(scanner.Text())}:
			case <-ctx.Done():
				return
			}
		}
		if err := scanner.Err(); err != nil {
			select {
			case lines <- typed{err: readError(err)}:
			case <-ctx.Done():
			}
		}
	}()
	return lines
}

func readError(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return errors.New("the line is longer than a turn may be (32,000 characters)")
	}
	return fmt.Errorf("read the input: %w", err)
}

// open creates the session and shows the agent's first message.
func (c *chat) open(ctx context.Context) error {
	if c.installation.AgentID == "" {
		return command.Usagef("--agent is missing: the id of the agent to talk to")
	}
	modality := "text"
	if c.options.voice != "" {
		modality = "voice"
	}
	made, err := c.client.Sessions.CreateSession(ctx, &parlancev1.CreateSessionRequest{
		AgentId: c.installation.AgentID,
		UserId:  c.options.user, Modality: modality,
	})
	if err != nil {
		return c.installation.Explain("create the session", err)
	}
	c.session, c.socketURL = made.GetId(), made.GetWsUrl()
	if c.options.json {
		return nil
	}
	greeting := ""
	if c.installation.WorkspaceID != "" {
		// The first message is optional: a key that may not read agents can still talk to one.
		if agent, err := c.client.Agents.GetAgent(ctx, &parlancev1.GetAgentRequest{
			WorkspaceId: c.installation.WorkspaceID,
			AgentId:     c.installation.AgentID,
		}); err == nil {
			c.agent, greeting = term.Clean(agent.GetName()), term.CleanText(agent.GetFirstMessage())
		}
	}
	if c.options.voice != "" {
		fmt.Fprintf(c.out, "Session %s with %s.\n", c.session, c.agent)
		return nil // the greeting is spoken
	}
	if c.terminal {
		fmt.Fprintf(c.out, "Session %s with %s. /quit or Ctrl-D ends it.\n", c.session, c.agent)
	}
	if greeting != "" {
		fmt.Fprintf(c.out, "\n%-5s ▸ %s\n", c.agent, greeting)
	}
	return nil
}

// end ends the session, even after the chat was interrupted.
func (c *chat) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if c.terminal {
		fmt.Fprintln(c.out)
	}
	// A session that is not ended here ends by its idle time-out.
	_, _ = c.client.Sessions.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: c.session, Status: "completed", Reason: "chat ended"})
}
