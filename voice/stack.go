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
	// Streaming says that Transcriber gives words while the user speaks, Punctuated that they have
	// marks at the ends of sentences.
	Streaming, Punctuated bool
	// Synthesizer is nil when none can be had.
	Synthesizer speech.Synthesizer
	// Speech has the voice, language, speed and instructions of each sentence; its Text is empty.
	Speech speech.Speech
	// Hints are words that transcribers should expect.
	Hints []string
	// Language is the language of the transcripts; empty lets the transcriber detect it.
	Language string
	// TranscriberName and SynthesizerName are for receipts and logs: "openai/whisper-1".
	TranscriberName, SynthesizerName string
}

// StackFunc chooses the stack of a session. Errors: Upstream upstream-failed when the agent names a
// provider that is not configured.
type StackFunc func(ctx context.Context, ref workspaces.Ref, voice agents.Voice, language string) (Stack, error)
