package speech

import "context"

// HearingRate is the rate of all samples that transcribers take, in samples per second.
const HearingRate = 16000

// Word is a word with its place in the audio, in milliseconds from the beginning of the utterance
// or of what is spoken.
type Word struct {
	// Text is without spaces, with its punctuation if the service gives it.
	Text           string
	StartMS, EndMS int
}

// Utterance is speech to transcribe.
type Utterance struct {
	// Samples at HearingRate. An empty utterance has an empty transcript, and no service is called.
	Samples []int16
	Options
}

// Options are what a service is told about an utterance.
type Options struct {
	// Language is a BCP 47 tag such as "en" or "pt-BR". Empty lets the service detect it, if it can.
	Language string
	// Hints are words that may be said and are hard to know: names, products. Each adapter sends as
	// many of the first ones as its service takes.
	Hints []string
	// Standby says that another transcriber can be asked: the call is not repeated after a failure.
	// [TranscriberChain] sets it.
	Standby bool
}

// Transcript is what was heard in an utterance.
type Transcript struct {
	// Text is without white space at its ends. It is empty when nothing was said.
	Text string
	// Language is a BCP 47 tag. Empty when the service does not name it.
	Language string
	// NoSpeech is the service's probability that nobody spoke, from 0 to 1. 0 when it gives none.
	NoSpeech float64
	// Words are in order. Empty when the service gives no times.
	Words []Word
	// Provider is the Name of the transcriber that heard it, also in a chain.
	Provider string
}

// Transcriber transcribes whole utterances. It is safe for concurrent use.
type Transcriber interface {
	// Name is short and public ("openai"). It appears in errors, logs and metrics.
	Name() string

	// Transcribe returns what was said in u.
	//
	// Errors: ctx.Err() wrapped when ctx ends; fault upstream-failed (refused, unreachable, too slow,
	// not a transcript) or unavailable (overloaded or rate limited; RetryAfter set when the service
	// named a time). A call is repeated once, unless it was too slow or u.Standby is set.
	Transcribe(ctx context.Context, u Utterance) (Transcript, error)
}

// StreamTranscriber transcribes utterances while they are spoken. It is safe for concurrent use.
type StreamTranscriber interface {
	// Name is short and public ("deepgram").
	Name() string

	// Open begins an utterance. It returns at once: the connection is made in the background, and
	// what is written meanwhile is sent when it is there. A stream may be opened before speech
	// begins; it is kept alive until then. The end of ctx ends the stream.
	//
	// Errors: those of Transcriber.Transcribe, also the ones that are known without a call.
	Open(ctx context.Context, o StreamOptions) (Stream, error)
}

// StreamOptions are the parameters of StreamTranscriber.Open.
type StreamOptions struct {
	Options
	// PartialFunc is called with each change of the transcript. It may be called on another
	// goroutine, one call at a time, and not after Finish or Close has returned. It must not wait for
	// the user of the stream. nil: nobody is told. Transcribers of whole utterances never call it.
	PartialFunc func(Partial)
}

// Partial is the transcript so far.
type Partial struct {
	// Text is all that was heard since the beginning of the stream.
	Text string
	// Final says that Text will not change any more, except that more is added to it.
	Final bool
	// EndOfSpeech says that the service believes that the speaker has finished. Services without an
	// opinion never set it.
	EndOfSpeech bool
	// HeardMS is how much audio Text covers, from the beginning of the stream.
	HeardMS int
}

// Stream is one utterance. Its methods are called by one goroutine at a time. Finish or Close must
// be called, and nothing after that but Close.
type Stream interface {
	// Write adds samples at HearingRate. It never waits for the network and does not keep the slice.
	// Errors: those of Transcriber.Transcribe when the stream has broken; the stream is of no use
	// then.
	Write(samples []int16) error

	// Finish says that the utterance is over, and returns its transcript. ctx bounds the wait, as does
	// Timeouts.Transcript. Errors: those of Transcriber.Transcribe.
	Finish(ctx context.Context) (Transcript, error)

	// Close gives the stream up, and waits until nothing of it runs any more. After Finish it does
	// nothing.
	Close()
}

// Transcribe transcribes a whole utterance with a transcriber of streams. Errors: those of the
// stream.
func Transcribe(ctx context.Context, t StreamTranscriber, u Utterance) (Transcript, error) {
	stream, err := t.Open(ctx, StreamOptions{Options: u.Options})
	if err != nil {
		return Transcript{}, err
	}
	defer stream.Close()
	if err := stream.Write(u.Samples); err != nil {
		return Transcript{}, err
	}
	return stream.Finish(ctx)
}
