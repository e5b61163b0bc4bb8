package hearing

import "fmt"

// Kind is what an Event reports.
type Kind int

const (
	// SpeechStarted says that the user speaks since FromMS. While the agent speaks it is reported
	// only with an Interrupt, because clients stop playing at once and cannot resume.
	SpeechStarted Kind = iota
	// EndLikely says that the user has probably finished. The turn may begin, as long as nothing of
	// it is sent and no tool with effects is called before Commit.
	EndLikely
	// Continued says that the user goes on after EndLikely.
	Continued
	// SpeechStopped says that the speech ended at ToMS. Reported just before Commit.
	SpeechStopped
	// Commit says that FromMS to ToMS is an utterance of the user, its prefix included. The agent
	// answers if Settings.CreateResponse is set.
	Commit
	// FalseStart says that what began at FromMS was no utterance, for the Reason. Comes after
	// SpeechStarted or Pause, in place of Commit; a transcriber may forget that audio.
	FalseStart
	// Pause says that speech began while the agent speaks. Send nothing more until Interrupt or
	// Resume.
	Pause
	// Transcribe says that the speech after Pause has ended. Without a streaming transcriber,
	// transcribe FromMS to ToMS and call Taker.Words: its words decide between Interrupt and
	// Resume.
	Transcribe
	// Interrupt says that the speech that began at FromMS interrupts the agent. Drop what is not
	// sent, tell the client to drop what it has not played, cut the transcript to what was heard.
	Interrupt
	// Resume asks to go on sending where Pause stopped.
	Resume
	// Idle says that neither side has spoken for Settings.IdleMS. Count tells how often in a row.
	Idle
)

var kinds = [...]string{
	"speech started", "end likely", "continued", "speech stopped", "commit", "false start", "pause", "transcribe",
	"interrupt", "resume", "idle",
}

func (k Kind) String() string {
	return kinds[k]
}

// Reason is why an Event happened.
type Reason int

const (
	// NoReason is for kinds that say it all; a FalseStart without another reason was cleared.
	NoReason Reason = iota

	// BySilence is a Commit after a silence, the words saying nothing about the end.
	BySilence
	// ByWords is a Commit after a finished sentence or whole value, or an Interrupt by two words
	// that are no acknowledgement.
	ByWords
	// ByTimeout is a Commit after words that had something to come, and nothing came.
	ByTimeout
	// ByModel is a Commit by the EndModel's vote.
	ByModel
	// ByCaller is a Commit by a call of Taker.Commit, and an Interrupt by the same.
	ByCaller

	// ByStopWord is an Interrupt by words such as "stop" or "wait".
	ByStopWord
	// ByDuration is an Interrupt by speech that lasts.
	ByDuration

	// Acknowledgement is a FalseStart of words such as "uh-huh" while the agent speaks.
	Acknowledgement
	// Echo is a FalseStart of the agent's own words.
	Echo
	// NoWords is a FalseStart of sound in which nothing was understood.
	NoWords
	// TooLittle is a FalseStart of a single word while the agent speaks.
	TooLittle
)

var reasons = [...]string{
	"cleared", "silence", "words", "timeout", "model", "caller", "stop word", "duration", "acknowledgement", "echo", "no words",
	"too little",
}

func (r Reason) String() string {
	return reasons[r]
}

// Event is a decision. Times are audio time: ms of audio written to the taker since the beginning.
type Event struct {
	Kind Kind
	// AtMS is when it was decided.
	AtMS int
	// FromMS and ToMS bound the audio that the event is about.
	FromMS, ToMS int
	// SpeechMS is how much of the audio of a Commit or FalseStart was speech. Transcribers invent
	// words for audio with little speech.
	SpeechMS int
	Reason   Reason
	// Quiet is a SpeechStarted or SpeechStopped of speech that does not interrupt the agent, and was
	// over before the agent was. Do not tell the client, which would stop playing.
	Quiet bool
	// Joined: the utterance goes on from the one committed before, which began at JoinedMS and of
	// whose answer the user has heard nothing. At SpeechStarted send nothing of that answer. At
	// Commit take it back, if no tool with effects has run, and answer both utterances together. At
	// FalseStart go on with it.
	Joined   bool
	JoinedMS int
	// Count is how many Idle events there were since the last utterance, 1 for the first.
	Count int
}

func (e Event) String() string {
	text := fmt.Sprintf("%d %s %d-%d", e.AtMS, e.Kind, e.FromMS, e.ToMS)
	if e.Reason != NoReason {
		text += " (" + e.Reason.String() + ")"
	}
	if e.Joined {
		text += fmt.Sprintf(" joined %d", e.JoinedMS)
	}
	if e.Count > 0 {
		text += fmt.Sprintf(" ×%d", e.Count)
	}
	return text
}

// State is where a conversation stands.
type State int

const (
	// Listening means that nobody speaks.
	Listening State = iota
	// UserSpeaking means that the user speaks.
	UserSpeaking
	// Ending means that the user is silent, and may have finished.
	Ending
	// Thinking means that an utterance was committed, and the agent has not begun to speak.
	Thinking
	// Speaking means that the agent speaks.
	Speaking
	// Interrupted means that the agent is paused, until it is known whether it was interrupted.
	Interrupted
)

var states = [...]string{"listening", "user speaking", "ending", "thinking", "speaking", "interrupted"}

func (s State) String() string {
	return states[s]
}
