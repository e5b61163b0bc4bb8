package speech

import (
	"context"
	"log/slog"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/internal/apiclient"
)

// TranscriberChain is a transcriber that fails over between several. It keeps the samples of an
// utterance: when a transcriber fails, at whatever point, the next one gets all of them, so that
// nobody has to repeat what was said. When the last one loses a connection that had been made, it
// is asked once more.
//
// All but the last get Options.Standby. After a fail-over PartialFunc hears the next transcriber
// from the beginning. When all fail, the error is one fault that names each.
type TranscriberChain struct {
	// Transcribers in the order in which they are asked, at least one.
	Transcribers []StreamTranscriber
	// Metrics counts fail-overs. nil: they are not counted.
	Metrics *Metrics
	// Log gets the reason of each fail-over. nil: it is not logged.
	Log *slog.Logger
}

// Name is that of the first transcriber.
func (c TranscriberChain) Name() string { return c.Transcribers[0].Name() }

// Open implements StreamTranscriber. Errors: every transcriber refused to open a stream.
func (c TranscriberChain) Open(ctx context.Context, o StreamOptions) (Stream, error) {
	s := &chainedStream{chain: c, opened: ctx, options: o}
	if err := s.open(nil); err != nil {
		return nil, err
	}
	return s, nil
}

// chainedStream is one utterance. stream is that of Transcribers[at].
type chainedStream struct {
	chain   TranscriberChain
	opened  context.Context //nolint:containedctx // the next streams are opened in it too
	options StreamOptions

	stream   Stream
	at       int
	repeated bool
	samples  []int16
	failures []error
}

// open opens a stream of Transcribers[at] or, after err or an error of its own, of the next one
// that can be opened, and writes to it what was written before. Errors: all have failed.
func (s *chainedStream) open(err error) error {
	for {
		if err != nil && !s.next(err) {
			return s.failed(err)
		}
		options := s.options
		options.Standby = options.Standby || s.at < len(s.chain.Transcribers)-1
		if s.stream, err = s.chain.Transcribers[s.at].Open(s.opened, options); err != nil {
			continue
		}
		if err = s.stream.Write(s.samples); err == nil {
			return nil
		}
	}
}

// next moves to the transcriber that is asked after err, and reports whether there is one.
func (s *chainedStream) next(err error) bool {
	if s.stream != nil {
		s.stream.Close()
		s.stream = nil
	}
	if s.opened.Err() != nil {
		return false
	}
	s.failures = append(s.failures, err)
	transcribers := s.chain.Transcribers
	from := transcribers[s.at]
	switch {
	case s.at < len(transcribers)-1:
		s.at++
	case !s.repeated && fault.From(err).Meta[metaWhy] == whyBroken:
		s.repeated = true
	default:
		return false
	}
	failedOver(s.opened, s.chain.Metrics, s.chain.Log, from.Name(), transcribers[s.at].Name(), err)
	return true
}

// failed is the error of an utterance that nobody transcribes. last is what happened last.
func (s *chainedStream) failed(last error) error {
	if s.opened.Err() != nil {
		return last
	}
	return apiclient.AllFailed("No transcriber answered:", s.failures)
}

func (s *chainedStream) Write(samples []int16) error {
	if s.stream == nil {
		return apiclient.AllFailed("No transcriber answered:", s.failures)
	}
	if len(s.samples)+len(samples) > maxUtteranceSamples {
		return errTooLongUtterance(s.chain.Name())
	}
	s.samples = append(s.samples, samples...)
	if err := s.stream.Write(samples); err != nil {
		return s.open(err)
	}
	return nil
}

func (s *chainedStream) Finish(ctx context.Context) (Transcript, error) {
	if s.stream == nil {
		return Transcript{}, apiclient.AllFailed("No transcriber answered:", s.failures)
	}
	for {
		transcript, err := s.stream.Finish(ctx)
		if err == nil || ctx.Err() != nil {
			return transcript, err
		}
		if err := s.open(err); err != nil {
			return Transcript{}, err
		}
	}
}

func (s *chainedStream) Close() {
	if s.stream != nil {
		s.stream.Close()
	}
	s.samples = slices.Clip(s.samples[:0])
}
