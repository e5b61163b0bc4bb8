package model

import (
	"context"
	"errors"
	"sync/atomic"
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

// Watch watches one answer. Its methods must be called by one goroutine.
//
// An answer has hundreds of pieces, so a piece does not reset the timer: it stores its time. When
// the timer fires, it is reset to the rest of the wait after that time.
type Watch struct {
	timer   *time.Timer
	whole   *time.Timer
	cancel  context.CancelCauseFunc
	between time.Duration
	started time.Time
	begun   bool
	ended   bool
	// silent is the start of the current wait, in nanoseconds after started, or one of the values
	// below.
	silent atomic.Int64
}

// Special values of Watch.silent.
const (
	noneYet  = 0 // no piece has come
	ourTurn  = -1
	watchEnd = -2
)

// Watch starts to wait for a first token. The returned context ends when it does not come in time.
// The caller must call Stop.
func (t Timeouts) Watch(ctx context.Context) (context.Context, *Watch) {
	if t.FirstToken <= 0 {
		t.FirstToken = defaultFirstToken
	}
	if t.BetweenTokens <= 0 {
		t.BetweenTokens = defaultBetweenTokens
	}
	if t.Whole <= 0 {
		t.Whole = defaultWhole
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Watch{cancel: cancel, between: t.BetweenTokens, started: time.Now()}
	w.timer = time.AfterFunc(t.FirstToken, w.late)
	w.whole = time.AfterFunc(t.Whole, func() { cancel(errTooLong) })
	return ctx, w
}

// late runs when the timer fires. It ends the answer when nothing came in time. It may use the
// timer: the atomic value that it loads was stored after the timer was made.
func (w *Watch) late() {
	switch silent := w.silent.Load(); silent {
	case watchEnd:
	case noneYet:
		w.cancel(errNoFirstToken)
	case ourTurn: // no wait is running, and none ends before the timer fires again
		w.timer.Reset(w.between)
	default:
		left := w.between - (time.Since(w.started) - time.Duration(silent))
		if left <= 0 {
			w.cancel(errStalled)
			return
		}
		w.timer.Reset(left)
	}
}

// Pause stops the clock while the caller handles a piece: a slow listener is not a silent server.
// Token starts it again.
func (w *Watch) Pause() { w.silent.Store(ourTurn) }

// Token says that a piece was handled. The wait for the next one begins.
func (w *Watch) Token() {
	w.silent.Store(max(1, int64(time.Since(w.started))))
	if !w.begun { // the timer was set for the first piece
		w.begun = true
		w.timer.Reset(w.between)
	}
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
	w.silent.Store(watchEnd)
	w.timer.Stop()
	w.whole.Stop()
	w.cancel(nil)
}
