package parlance

import (
	"context"
	"errors"
	"time"
)

// reconnect decides whether a stream or socket is made again after it was lost.
type reconnect struct {
	client *Client
	// forever is set for what has no end of its own: it is tried until its context ends.
	forever bool
	retries *retries
	pauses  pauses
	// begun says that something has arrived: from then on an answer of a proxy, behind which the
	// service may be starting, is a lost connection too. Before, it is a call that was refused.
	begun bool
	// lost is when the connection was lost; zero while it is open.
	lost time.Time
}

func (c *Client) newReconnect() *reconnect {
	return &reconnect{client: c, retries: newRetries(c.options.MaxRetries)}
}

// opened is called when something has arrived.
func (r *reconnect) opened() {
	r.begun = true
	if !r.lost.IsZero() {
		r.lost, r.pauses = time.Time{}, pauses{}
	}
}

// isLoss reports whether an error is a lost connection.
func (r *reconnect) isLoss(failed *Error) bool {
	if !r.begun {
		return isLost(failed) && !failed.answered
	}
	return isLost(failed) || failed.HTTPStatus > 0 && canRetry(failed)
}

// wait reports whether to connect again after an error, and waits until then. A nil error is a
// stream that ended too early.
func (r *reconnect) wait(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	failed, ok := errors.AsType[*Error](err)
	limit := r.client.options.ReconnectFor
	switch {
	case err == nil:
		failed = &Error{Reason: ReasonUnavailable, Message: "the stream ended too early"}
	case !ok:
		return false
	case failed.Reason == ReasonIdempotencyKeyInFlight:
		limit = inFlightFor
	case !r.isLoss(failed):
		// An answer that failed stays so; it is not asked for again.
		return (r.forever || !r.begun) && r.retries.wait(ctx, err)
	}
	now := r.client.now()
	first := r.lost.IsZero()
	if first {
		r.lost = now
	}
	if limit <= 0 || !r.forever && now.Sub(r.lost) >= limit {
		return false
	}
	if first && failed.Reason != ReasonIdempotencyKeyInFlight {
		r.client.options.OnReconnect(failed)
	}
	pause := r.pauses.take(min(failed.RetryAfter, longestRetryAfter))
	if !r.forever {
		pause = min(pause, limit-now.Sub(r.lost))
	}
	return sleep(ctx, pause) == nil
}
