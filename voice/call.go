package voice

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice/hearing"
)

const (
	// ownCommand begins the ids of the commands that a call gives by itself.
	ownCommand = live.CallCommand
	// cutCommand begins the ids of those that follow from an interruption. The id of the item that is
	// cut follows, or that of the answer that is cancelled.
	cutCommand = ownCommand + "cut:"
)

// Call is the voice of one socket's conversation. It has the methods of a live.Live, which may be
// called as described there.
type Call struct {
	*live.Live

	s *Service
	// life ends with the call: its transcribers and synthesizers run under it.
	life    context.Context //nolint:containedctx // the life of the goroutines, which no caller's context spans
	endLife context.CancelFunc

	// passing keeps the order of commands: it is held while they are handed to the conversation.
	passing sync.Mutex

	mu sync.Mutex
	// What follows is guarded by mu.

	session  sessions.Session
	stack    Stack
	language string
	// transcription is the language that the client chose for transcripts; nil: it chose none.
	transcription *string
	detection     Detection
	input, output audio.Format
	speed         float64
	// textOnly is set when the client wants answers in text.
	textOnly bool
	// left is set when the socket is gone, over when nothing is heard any more, muted when nothing
	// more is said.
	left, over, muted bool
	// movesOn is set when the client goes on with another socket, ended when the session is over.
	movesOn, ended bool

	ears      ears
	player    player
	recording recording
	keys      keys

	// out are events for the socket that wait for nothing.
	out []turns.Event
	// answers are the answers that the client was not sent to their ends, oldest first.
	answers []*answer
	// asked are the commands whose answers have not begun, unwanted those of them that nobody is to
	// hear.
	asked, unwanted map[string]bool
	// anticipated is what the model is asked about while it is not certain that it is all.
	anticipated string
	// minute is the minute of the session that was counted last.
	minute int
	// unmeteredMS is what was transcribed and not counted: less than a second.
	unmeteredMS int
	// heardLanguage is another language that the user has spoken heardTimes times in a row.
	heardLanguage string
	heardTimes    int
	// rest is what nobody has heard of the answers that were cut last.
	rest string
	// saidGoodbye is set when the session is being ended because nobody speaks.
	saidGoodbye bool
	// own are items of sentences that the call says by itself.
	own map[string]bool
	// turnIndex is that of the newest turn that was answered, newestTurn that of the newest one that
	// something was said in. fillers counts those that were said.
	turnIndex, newestTurn, fillers int
	// cuts are what was heard of items that were cut, as the call or the client last said.
	cuts map[string]live.Truncate
	// spoken are the messages that were spoken last.
	spoken []*message
	// closing is the conversation's Closed, which waits for the sound before it.
	closing *live.Closed
	closeBy time.Time

	// commands are for the conversation. handing is set while a goroutine hands them over.
	commands []live.Command
	handing  bool
	wake     func()
}

// begin sets up a call with its stack, or says why it has none. mu is held.
func (c *Call) begin(stack Stack, err error, known Configure) {
	c.stack = stack
	if err != nil {
		c.s.deps.Log.WarnContext(c.life, "speech of a session is not whole", "session_id", c.session.ID, "error", err)
	}
	if stack.Mute != nil {
		c.out = append(c.out, live.Failed{Err: postgres.Decide(stack.Mute)})
	}
	c.ears.begin(c)
	c.configure(known)
	c.SpeakAnswers(c.speaks())
	if notice := c.session.Config.Voice.Recording.Notice; c.recording.recorder != nil && notice != "" && !c.Resumed() {
		c.say(sentence{text: notice, after: sessions.AtFront, protected: true})
	}
	c.takeRest(c.s.takeRest(c.session))
}

// Do takes a command of the socket, as live.Live.Do does.
func (c *Call) Do(ctx context.Context, command live.Command) error {
	c.mu.Lock()
	c.take(command)
	c.mu.Unlock()
	return c.pass(ctx)
}

// take carries out a command that is about sound, and leaves the others to the conversation. mu is
// held.
func (c *Call) take(command live.Command) {
	if c.ended && c.closing != nil {
		c.refuse(command)
		return
	}
	switch command := command.(type) {
	case Append:
		c.hear(command)
	case Commit:
		c.commit(command)
	case Clear:
		c.clearInput()
	case ClearOutput:
		c.stopSpeaking(turns.ReasonClientCancelled)
		c.ears.taker.AgentDone()
	case Configure:
		c.configure(command)
	case Key:
		c.takeKey(command)
	case Press:
		c.press(command)
	case live.Cancel:
		c.cancel(command)
	case live.Truncate:
		c.truncate(command)
	case live.Respond:
		command.Spoken = command.Spoken && c.speaks()
		c.afterWords(command)
	case live.Ask:
		command.Respond.Spoken = command.Respond.Spoken && c.speaks()
		c.afterWords(command)
	case live.UserMessage, live.Insert:
		c.afterWords(command)
	default:
		c.commands = append(c.commands, command)
	}
}

// refuse tells a client that writes while the agent says goodbye that nobody reads it. Feedback is
// taken. mu is held.
func (c *Call) refuse(command live.Command) {
	id := ""
	switch command := command.(type) {
	case live.Feedback:
		c.commands = append(c.commands, command)
		return
	case live.UserMessage:
		id = command.CommandID
	case live.Ask:
		id = command.Message.CommandID
	case live.Respond:
		id = command.CommandID
	default:
		return
	}
	c.out = append(c.out, live.Failed{CommandID: id, Err: fault.New(fault.SessionClosed, "The agent has ended the conversation.")})
}

// afterWords has the conversation carry out a command once it knows what the user has said before
// it. mu is held.
func (c *Call) afterWords(command live.Command) {
	waits := len(c.ears.pending) > 0
	if respond, is := command.(live.Respond); is && waits && c.ears.pending[len(c.ears.pending)-1].respond {
		respond.IfUnanswered = true // the utterance is answered by itself
		command = respond
	}
	if waits {
		c.ears.behind = append(c.ears.behind, command)
		return
	}
	c.commands = append(c.commands, command)
}

// pass hands the waiting commands to the conversation, in their order.
func (c *Call) pass(ctx context.Context) error {
	c.passing.Lock()
	defer c.passing.Unlock()
	for {
		c.mu.Lock()
		commands := c.commands
		c.commands = nil
		c.mu.Unlock()
		if len(commands) == 0 {
			return nil
		}
		for i, command := range commands {
			if err := c.Live.Do(ctx, command); err != nil {
				if ctx.Err() != nil { // the others may still be wanted
					c.mu.Lock()
					c.commands = append(commands[i:], c.commands...)
					c.mu.Unlock()
				} else {
					c.noteLast(commands[i:])
				}
				return err
			}
		}
	}
}

// unlock ends a change of the call: the call's own commands are passed, and the socket is woken if
// it is to look for events.
func (c *Call) unlock(wakes bool) {
	hand := len(c.commands) > 0 && !c.handing
	c.handing = c.handing || hand
	wake := c.wake
	c.mu.Unlock()
	if hand {
		c.s.workers.Go(c.handOver)
	}
	if wakes && wake != nil {
		wake()
	}
}

// handOver passes the call's own commands until there are none.
func (c *Call) handOver() {
	for {
		err := c.pass(c.life) // session-closed: Closed is on its way
		c.mu.Lock()
		if c.handing = err == nil && len(c.commands) > 0; !c.handing {
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
	}
}

// OnWake is live.Live's.
func (c *Call) OnWake(f func()) {
	c.mu.Lock()
	c.wake = f
	c.mu.Unlock()
	c.Live.OnWake(f)
}

// Poll is live.Live's: it returns the next event whose time has come.
func (c *Call) Poll() (turns.Event, bool) {
	c.mu.Lock()
	defer c.unlock(false) // the socket is awake
	for {
		if e, is := c.next(); is {
			return e, true
		}
		e, is := c.Live.Poll()
		if !is {
			return nil, false
		}
		c.observe(e)
	}
}

// Next is live.Live's. Once the call was left, it is the only one that takes events.
func (c *Call) Next(ctx context.Context) (turns.Event, error) {
	for {
		c.mu.Lock()
		e, is := c.next()
		c.mu.Unlock()
		if is {
			return e, nil
		}
		e, err := c.Live.Next(ctx)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.observe(e)
		c.mu.Unlock()
		if err := c.pass(ctx); err != nil && ctx.Err() != nil { // session-closed: Closed is on its way
			return nil, err
		}
	}
}

// tick moves the call by the clock.
func (c *Call) tick() {
	c.mu.Lock()
	now := c.s.now()
	if !c.left {
		c.hearSilence(now)
		c.keepWaiting(now)
		c.askKeysInTime(now)
		c.meterMinutes(now)
		c.recording.pass(now)
	}
	c.unlock(len(c.out) > 0 || c.player.isDue(now) || c.closing != nil)
}

// transcriptLanguage is the language that transcribers expect.
func (c *Call) transcriptLanguage() string {
	if c.transcription != nil {
		return *c.transcription
	}
	return c.stack.Language
}

// speechOf is what the synthesizer is asked to say.
func (c *Call) speechOf(text string) speech.Speech {
	s := c.stack.Speech
	s.Text = text
	if c.speed > 0 {
		s.Speed = c.speed
	}
	if s.Language == "" {
		s.Language = c.language
	}
	return s
}

// configure takes a client's settings. mu is held.
func (c *Call) configure(s Configure) {
	if s.Input.IsKnown() && s.Input != c.input {
		c.input = s.Input
		c.ears.setFormat(c.input)
	}
	if s.Output.IsKnown() {
		c.output = s.Output
	}
	if s.Speed > 0 {
		c.speed = s.Speed
	}
	if s.Transcription != nil {
		c.transcription = s.Transcription
	}
	if s.TextOnly != nil {
		c.textOnly = *s.TextOnly
		c.SpeakAnswers(c.speaks() && !c.textOnly)
	}
	if s.Detection != nil {
		c.detection = *s.Detection
		c.setHearing()
	}
}

// setHearing has the taker go by the settings in force. mu is held.
func (c *Call) setHearing() {
	c.ears.taker.Set(c.hearingSettings())
}

func (c *Call) hearingSettings() hearing.Settings {
	return c.detection.hearing(c.session.Config.Voice, c.stack, c.language)
}
