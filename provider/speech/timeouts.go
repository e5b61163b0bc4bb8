package speech

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Timeouts bound how long a service may be silent. Zero fields take the defaults, which are short
// because a person waits in silence.
type Timeouts struct {
	// Connect is the longest wait for the connection of a stream. Default 5 s.
	Connect time.Duration
	// Transcript is the longest wait for a transcript from the end of the utterance on. Default 10 s.
	Transcript time.Duration
	// FirstAudio is the longest wait from the call to the first samples, repetitions included.
	// Default 5 s.
	FirstAudio time.Duration
	// BetweenAudio is the longest wait between two pieces. Default 5 s.
	BetweenAudio time.Duration
}

// WithDefaults fills in the defaults.
func (t Timeouts) WithDefaults() Timeouts {
	return Timeouts{
		Connect:      cmp.Or(max(t.Connect, 0), 5*time.Second),
		Transcript:   cmp.Or(max(t.Transcript, 0), 10*time.Second),
		FirstAudio:   cmp.Or(max(t.FirstAudio, 0), 5*time.Second),
		BetweenAudio: cmp.Or(max(t.BetweenAudio, 0), 5*time.Second),
	}
}

// The causes of contexts that a timeout ended. Party.Failed tells them.
var (
	errNoTranscript = errors.New("no transcript in time")
	errNoAudio      = errors.New("no audio in time")
	errStalled      = errors.New("no further audio in time")
)

// AwaitTranscript is a context that ends when a transcript does not come in time.
func (t Timeouts) AwaitTranscript(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, t.WithDefaults().Transcript, errNoTranscript)
}

// AudioWatch ends a call of a synthesizer when its service is silent for too long. Its methods are
// called by one goroutine.
type AudioWatch struct {
	timer   *time.Timer
	cancel  context.CancelCauseFunc
	between time.Duration
	begun   bool
}

// WatchAudio starts to wait for the first samples. The returned context ends when they do not come
// in time. The caller must call Stop.
func (t Timeouts) WatchAudio(ctx context.Context) (context.Context, *AudioWatch) {
	t = t.WithDefaults()
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &AudioWatch{
		timer:  time.AfterFunc(t.FirstAudio, func() { cancel(errNoAudio) }),
		cancel: cancel, between: t.BetweenAudio,
	}
}

// Emit hands a piece to emit. The clock stands still meanwhile: a slow listener is not a silent
// service.
func (w *AudioWatch) Emit(piece Piece, emit func(Piece) error) error {
	w.timer.Stop()
	if err := emit(piece); err != nil {
		return err
	}
	if w.begun {
		w.timer.Reset(w.between)
		return nil
	}
	w.begun = true
	w.timer = time.AfterFunc(w.between, func() { w.cancel(errStalled) })
	return nil
}

// Stop ends the watch and its context.
func (w *AudioWatch) Stop() {
	w.timer.Stop()
	w.cancel(nil)
}
