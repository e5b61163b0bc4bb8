package speech

import "context"

// Speech is text to speak.
type Speech struct {
	// Text is what is spoken, usually one sentence, written for the ear. Nothing is spoken, and no
	// service called, when it has only white space.
	Text string
	// Voice is a name or id of the service's. Empty uses the configured one.
	Voice string
	// Language is a BCP 47 tag. Empty lets the service detect it, if it can.
	Language string
	// Speed is relative to the voice's own, from 0.25 to 4. 0 means 1. Adapters bring it into the
	// range of their service.
	Speed float64
	// Instructions say how to speak ("calm and friendly"). Services that take none ignore them.
	Instructions string
	// Standby says that another synthesizer can be asked: the call is not repeated after a failure.
	// [SynthesizerChain] sets it.
	Standby bool
}

// Piece is a part of what is spoken.
type Piece struct {
	// Samples are never empty, except that the last piece may have only Words. The receiver may keep
	// them.
	Samples []int16
	// Rate is samples per second. All pieces of one call have the same.
	Rate int
	// Words are those whose times became known with this piece. Times count from the first sample of
	// the call, not of the piece, and may lie outside of it.
	Words []Word
	// Provider is the Name of the synthesizer that speaks, also in a chain.
	Provider string
}

// Synthesizer speaks text. It is safe for concurrent use.
type Synthesizer interface {
	// Name is short and public ("elevenlabs", "espeak"). It appears in errors, logs and metrics.
	Name() string

	// Speak speaks s. It calls emit with each piece as it arrives, on the calling goroutine.
	//
	// Errors: an error of emit stops the speech and is returned wrapped; ctx.Err() wrapped when ctx
	// ends; fault upstream-failed (refused, broke off, too slow, not audio) or unavailable (overloaded
	// or rate limited; RetryAfter set when the service named a time). A call is repeated once, only
	// before the first byte of its answer, and not when it was too slow or s.Standby is set.
	Speak(ctx context.Context, s Speech, emit func(Piece) error) error
}
