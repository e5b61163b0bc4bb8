package speech

import (
	"context"
	"time"

	"parlance.dev/parlance/fault"
)

// MaxUtterance is the longest utterance that is kept to be sent whole or again.
const MaxUtterance = 5 * time.Minute

const maxUtteranceSamples = int(MaxUtterance/time.Second) * HearingRate

// Whole makes a stream of a transcriber that takes whole utterances: what is written is kept, and
// sent when the utterance is finished. There are no partial transcripts.
func Whole(t Transcriber) StreamTranscriber { return whole{t} }

type whole struct{ transcriber Transcriber }

func (w whole) Name() string { return w.transcriber.Name() }

func (w whole) Open(_ context.Context, o StreamOptions) (Stream, error) {
	return &wholeStream{transcriber: w.transcriber, utterance: Utterance{Options: o.Options}}, nil
}

type wholeStream struct {
	transcriber Transcriber
	utterance   Utterance
}

func (s *wholeStream) Write(samples []int16) error {
	if len(s.utterance.Samples)+len(samples) > maxUtteranceSamples {
		return errTooLongUtterance(s.transcriber.Name())
	}
	s.utterance.Samples = append(s.utterance.Samples, samples...)
	return nil
}

func (s *wholeStream) Finish(ctx context.Context) (Transcript, error) {
	return s.transcriber.Transcribe(ctx, s.utterance)
}

func (s *wholeStream) Close() { s.utterance.Samples = nil }

func errTooLongUtterance(name string) error {
	return fault.New(fault.UpstreamFailed, "An utterance for %s is longer than %s.", name, MaxUtterance)
}
