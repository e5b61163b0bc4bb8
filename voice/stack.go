package voice

import (
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/workspaces"
)

// Stack is what hears and speaks for one session.
type Stack struct {
	// Transcriber is nil when none is configured.
	Transcriber speech.StreamTranscriber
	// Streaming says that Transcriber gives words while the user speaks, also after a fail-over,
	// Punctuated that they have marks at the ends of sentences.
	Streaming, Punctuated bool
	// Synthesizer is nil when none can be had.
	Synthesizer speech.Synthesizer
	// Speech has the voice, language, speed and instructions of each sentence; its Text is empty.
	Speech speech.Speech
	// Hints are words that transcribers should expect. The session adds its own, such as the
	// agent's name.
	Hints []string
	// Language is that of the transcriber, a BCP 47 tag; empty lets it detect.
	Language string
	// TranscriberName and SynthesizerName are provider and model for receipts and logs, e.g.
	// "openai/whisper-1" and "espeak-ng". Empty when there is none. After a fail-over another one
	// has done the work: see Provider of speech.Transcript and speech.Piece.
	TranscriberName, SynthesizerName string
	// Deaf and Mute are why there is no Transcriber or Synthesizer although the agent names one;
	// nil: none is named.
	Deaf, Mute error
	// Close frees what belongs to the session; nil: nothing does. It may be called twice.
	Close func()
}

func (s Stack) close() {
	if s.Close != nil {
		s.Close()
	}
}

// StackFunc chooses the stack of a session. language is the session's, a BCP 47 tag or empty.
// Errors: why one half of the stack is missing, which Deaf and Mute say too; the other half is
// there.
type StackFunc func(ctx context.Context, ref workspaces.Ref, voice agents.Voice, language string) (Stack, error)
