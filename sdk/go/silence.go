package parlance

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"
)

const (
	// silentFor is how long a stream or socket may bring nothing. The service pings a socket three
	// times meanwhile. A stream has nothing of that kind: one whose answer waits for a slow tool is as
	// silent as one whose connection is dead.
	silentFor = time.Minute
	// probeTimeout limits the question whether the service is there, and how long a connection that
	// is made again may bring nothing.
	probeTimeout = 15 * time.Second
)

// errSilent says that a stream brought nothing for a while.
var errSilent = &Error{Reason: ReasonUnavailable, Message: "nothing came for a while", Code: connect.CodeUnavailable}

// silence ends a stream that brings nothing.
type silence struct {
	timer *time.Timer
	limit time.Duration
}

// watchSilence makes a context for a stream, which ends with errSilent.
func (r *reconnect) watchSilence(ctx context.Context) (context.Context, *silence, context.CancelFunc) {
	limit := r.client.silence
	if !r.lost.IsZero() {
		limit = min(limit, probeTimeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &silence{limit: limit, timer: time.AfterFunc(limit, func() { cancel(errSilent) })}
	return ctx, s, func() { s.pause(); cancel(nil) }
}

// pause is called when something has come: what the program does with it may take its time.
func (s *silence) pause() { s.timer.Stop() }

// goOn is called when the next is waited for.
func (s *silence) goOn() { s.timer.Reset(s.limit) }

// silenceOr returns errSilent when that ended the stream, else the stream's error.
func silenceOr(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// probe asks the service for something else when a stream was silent. A service that answers, with
// a refusal too, is there: then the stream is opened again, in case its own connection is dead.
// Else the connection is lost.
func (r *reconnect) probe(ctx context.Context, ask func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, min(r.client.silence, probeTimeout))
	defer cancel()
	err := ask(within)
	if refused, ok := errors.AsType[*Error](err); err == nil || ok && refused.answered && !isLost(refused) {
		r.lost, r.pauses = time.Time{}, pauses{}
		return nil
	}
	return errSilent
}
