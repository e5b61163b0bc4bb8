package speech

import (
	"context"
	"strconv"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/platform/telemetry"
)

// Breaker is the circuit breaker that all transcribers and synthesizers of a process share: 5
// consecutive failures of one key within a minute open its circuit for 15 s. It has the numbers of
// package model for the same reasons: a person waits.
func Breaker() *breaker.Breaker {
	return breaker.New(breaker.Options{Pause: 15 * time.Second})
}

// Guard is what GuardTranscriber and GuardSynthesizer need. Breaker and Now are required.
type Guard struct {
	Breaker *breaker.Breaker
	// Key identifies direction, server, credential and model, and has no secret. A failing model of
	// one tenant says nothing about those of others.
	Key string
	Now func() time.Time
	// Metrics measures the calls. nil: they are not measured.
	Metrics *Metrics
}

// call is one call that the breaker has admitted. It is reported once.
type call struct {
	guard    Guard
	name     string
	reported bool
}

// begin asks the breaker. Errors: unavailable with RetryAfter while the circuit is open.
func (g Guard) begin(name string) (*call, error) {
	if g.Breaker.Allow(g.Key, g.Now()) != breaker.Refused {
		return &call{guard: g, name: name}, nil
	}
	err := g.Breaker.Refusal(g.Key, name, g.Now())
	err.Meta = map[string]string{metaProvider: name, metaWhy: whyCircuitOpen}
	return nil, err
}

// report tells the breaker the first outcome of the call. Later ones are ignored.
func (c *call) report(outcome breaker.Result) {
	if c.reported {
		return
	}
	c.reported = true
	if c.guard.Breaker.Report(c.guard.Key, outcome, c.guard.Now()) {
		c.guard.Metrics.opened(c.name)
	}
}

// outcomeFor is what an error says about the health of the service.
func outcomeFor(ctx context.Context, err error) breaker.Result {
	switch {
	case err == nil:
		return breaker.Healthy
	case ctx.Err() == nil && isFailing(err):
		return breaker.Failing
	}
	return breaker.Neutral
}

// isFailing reports whether an error is a failure of the service, rather than about the request,
// the key or the rate.
func isFailing(err error) bool {
	decided := fault.From(err)
	if decided.Reason != fault.UpstreamFailed && decided.Reason != fault.ServiceUnavailable || decided.Meta[metaProvider] == "" {
		return false
	}
	status, _ := strconv.Atoi(decided.Meta[metaStatus])
	return status == 0 || status >= 500 || status == 408
}

// GuardSynthesizer measures s, and does not call it while its circuit is open. A refused request,
// key or rate is no failure: the service is there.
func GuardSynthesizer(s Synthesizer, g Guard) Synthesizer { return guardedSynthesizer{s, g} }

type guardedSynthesizer struct {
	Synthesizer
	guard Guard
}

// Speak implements Synthesizer. Errors: also unavailable with RetryAfter while the circuit is open.
func (g guardedSynthesizer) Speak(ctx context.Context, s Speech, emit func(Piece) error) (err error) {
	call, err := g.guard.begin(g.Name())
	if err != nil {
		return err
	}
	outcome := breaker.Neutral
	defer func() { call.report(outcome) }() // also when the synthesizer panics
	spanCtx, span := telemetry.Start(ctx, telemetry.Client, "speak "+g.Name())
	begun, heard := g.guard.Now(), false
	err = g.Synthesizer.Speak(spanCtx, s, func(p Piece) error {
		if !heard {
			heard = true
			g.guard.Metrics.firstPiece(g.Name(), g.guard.Now().Sub(begun))
		}
		return emit(p)
	})
	span.End(err)
	g.guard.Metrics.spoke(g.Name(), err, utf8.RuneCountInString(s.Text))
	outcome = outcomeFor(ctx, err)
	return err
}

// GuardTranscriber measures t, and does not open streams while its circuit is open. The outcome of
// a stream is known when it is finished or breaks; one that is closed before says nothing.
func GuardTranscriber(t StreamTranscriber, g Guard) StreamTranscriber {
	return guardedTranscriber{t, g}
}

type guardedTranscriber struct {
	StreamTranscriber
	guard Guard
}

// Open implements StreamTranscriber. Errors: also unavailable with RetryAfter while the circuit is
// open.
func (g guardedTranscriber) Open(ctx context.Context, o StreamOptions) (Stream, error) {
	call, err := g.guard.begin(g.Name())
	if err != nil {
		return nil, err
	}
	stream, err := g.StreamTranscriber.Open(ctx, o)
	if err != nil {
		call.report(outcomeFor(ctx, err))
		return nil, err
	}
	return &guardedStream{stream: stream, call: call, opened: ctx}, nil
}

type guardedStream struct {
	stream Stream
	call   *call
	// opened is the context of Open, which ends the stream.
	opened context.Context //nolint:containedctx // a stream belongs to the call that opened it
}

func (s *guardedStream) Write(samples []int16) error {
	err := s.stream.Write(samples)
	if err != nil {
		s.call.report(outcomeFor(s.opened, err))
		return err
	}
	s.call.guard.Metrics.wrote(s.call.name, len(samples))
	return nil
}

func (s *guardedStream) Finish(ctx context.Context) (Transcript, error) {
	outcome := breaker.Neutral
	defer func() { s.call.report(outcome) }() // also when the stream panics
	spanCtx, span := telemetry.Start(ctx, telemetry.Client, "transcribe "+s.call.name)
	begun := s.call.guard.Now()
	transcript, err := s.stream.Finish(spanCtx)
	span.End(err)
	s.call.guard.Metrics.transcript(s.call.name, err, s.call.guard.Now().Sub(begun))
	if outcome = outcomeFor(ctx, err); err != nil && s.opened.Err() != nil {
		outcome = breaker.Neutral
	}
	return transcript, err
}

func (s *guardedStream) Close() {
	s.stream.Close()
	s.call.report(breaker.Neutral)
}
