package model

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Timeouts bound the silence of a server. Zero fields take the defaults.
type Timeouts struct {
	// FirstToken is the longest wait from the call to the first piece of an answer, retries
	// included. Default 30 s: a local server may have to load its model first. Events that say nothing
	// (pings, an empty piece) are no piece.
	FirstToken time.Duration
	// BetweenTokens is the longest wait between two events once there was a piece. Default 30 s.
	BetweenTokens time.Duration
	// Whole is the longest time to the end of an answer. Default 5 min.
	Whole time.Duration
}

const (
	defaultFirstToken    = 30 * time.Second
	defaultBetweenTokens = 30 * time.Second
	defaultWhole         = 5 * time.Minute
)

// MaxRetryDelay is how long the only provider of an agent may ask us to wait before a call is
// repeated: a person is waiting. One that another stands by for is not waited for
// (Request.Standby).
const MaxRetryDelay = 5 * time.Second

// lingers is how long an answer that has ended is waited on for what may still follow, its token
// counts and the mark of the stream's end: they come at once, or never.
const lingers = 2 * time.Second

var (
	errNoFirstToken = errors.New("no first token in time")
	errStalled      = errors.New("no further token in time")
	errTooLong      = errors.New("no end of the answer in time")
)

// Watch is a running watch over one answer. Its methods are for one goroutine.
//
// An answer has hundreds of pieces, so a piece sets no timer: it says when it came, and the timer,
// when it fires, looks at that and sets itself for what is left of the wait.
type Watch struct {
	timer   *time.Timer
	whole   *time.Timer
	cancel  context.CancelCauseFunc
	between time.Duration
	started time.Time
	begun   bool
	ended   bool
	// silent is since when the server is waited for, in nanoseconds after started; or one of those
	// below.
	silent atomic.Int64
}

// What else silent says.
const (
	noneYet  = 0 // no piece has come
	ourTurn  = -1
	watchEnd = -2
)

// Watch starts to wait for a first token: the returned context ends when it does not come. The
// caller must call Stop.
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

// late ends the answer when nothing came in time. It sees the timer, which it sets, since it has
// seen what was stored after that was made.
func (w *Watch) late() {
	switch silent := w.silent.Load(); silent {
	case watchEnd:
	case noneYet:
		w.cancel(errNoFirstToken)
	case ourTurn: // the wait has not begun, and will not end before this fires again
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

// Pause stops the clock while our own side works on a piece: a slow listener is not a silent
// server. Token starts it again.
func (w *Watch) Pause() { w.silent.Store(ourTurn) }

// Token says that a piece came and was dealt with; the wait for the next one begins.
func (w *Watch) Token() {
	w.silent.Store(max(1, int64(time.Since(w.started))))
	if !w.begun { // until now the timer is set for the first piece
		w.begun = true
		w.timer.Reset(w.between)
	}
}

// Ended says that the answer has come to its end, and what follows it is waited for for a moment
// only.
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
