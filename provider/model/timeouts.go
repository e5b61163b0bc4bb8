package model

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Timeouts bound how long a server may be silent. Zero fields take the defaults.
type Timeouts struct {
	// FirstToken is the longest wait from the call to the first piece of an answer, retries included.
	// Default 30 s: a local server may have to load its model first. Pings and empty pieces do not
	// count.
	FirstToken time.Duration
	// BetweenTokens is the longest wait between two events after the first piece. Default 30 s.
	BetweenTokens time.Duration
	// Whole is the longest time to the end of an answer. Default 5 min.
	Whole time.Duration
}

const (
	defaultFirstToken    = 30 * time.Second
	defaultBetweenTokens = 30 * time.Second
	defaultWhole         = 5 * time.Minute
)

// MaxRetryDelay is the longest Retry-After of the only provider of an agent that is waited for,
// because a person is waiting. With Request.Standby there is no wait.
const MaxRetryDelay = 5 * time.Second

// lingers is how long to wait after the end of an answer for its token counts and the end of the
// stream, which come at once or never.
const lingers = 2 * time.Second

var (
	errNoFirstToken = errors.New("no first token in time")
	errStalled      = errors.New("no further token in time")
	errTooLong      = errors.New("no end of the answer in time")
)

// Watch ends one answer when the server is silent for too long. Its methods must be called by one
// goroutine.
type Watch struct {
	// timer runs while the server is waited for, whole until the end of the answer.
	timer, whole *time.Timer
	cancel       context.CancelCauseFunc
	between      time.Duration
	begun        bool
	ended        bool
}

// Watch starts to wait for a first token. The returned context ends when it does not come in time.
// The caller must call Stop.
func (t Timeouts) Watch(ctx context.Context) (context.Context, *Watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	after := func(wait, standard time.Duration, cause error) *time.Timer {
		if wait <= 0 {
			wait = standard
		}
		return time.AfterFunc(wait, func() { cancel(cause) })
	}
	return ctx, &Watch{
		timer:   after(t.FirstToken, defaultFirstToken, errNoFirstToken),
		whole:   after(t.Whole, defaultWhole, errTooLong),
		cancel:  cancel,
		between: cmp.Or(max(t.BetweenTokens, 0), defaultBetweenTokens),
	}
}

// Pause stops the clock while the caller handles a piece: a slow listener is not a silent server.
// Token starts it again.
func (w *Watch) Pause() { w.timer.Stop() }

// Token says that a piece was handled. The wait for the next one begins.
func (w *Watch) Token() {
	if w.begun {
		w.timer.Reset(w.between)
		return
	}
	w.begun = true
	w.timer.Stop()
	w.timer = time.AfterFunc(w.between, func() { w.cancel(errStalled) })
}

// Ended says that the answer is complete. Only a short wait for what follows remains.
func (w *Watch) Ended() {
	if !w.ended {
		w.ended = true
		w.whole.Reset(lingers)
	}
}

// Stop ends the watch and its context.
func (w *Watch) Stop() {
	w.timer.Stop()
	w.whole.Stop()
	w.cancel(nil)
}
