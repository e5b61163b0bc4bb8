package parlance

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

const (
	// The pause before a try doubles from firstPause to longestPause. Half of each pause is random,
	// so that clients of one lost server do not return all at once.
	firstPause   = 100 * time.Millisecond
	longestPause = 3 * time.Second
	// longestRetryAfter is the longest wait that is waited for a service that asks for one. A longer
	// one, as of a quota, is for the caller to decide.
	longestRetryAfter = 30 * time.Second
	// inFlightFor is how long the first request with an Idempotency-Key is waited for: as long as
	// the service goes on with one whose caller was lost.
	inFlightFor = 5 * time.Minute
)

// pauses are the waits between tries.
type pauses struct{ next time.Duration }

// take returns the pause before the next try, and at least what the service asked for.
func (p *pauses) take(asked time.Duration) time.Duration {
	p.next = min(max(2*p.next, firstPause), longestPause)
	return max(asked, p.next/2+rand.N(p.next/2)) //nolint:gosec,forbidigo // spreads clients; nothing is decided by it
}

// retries decides whether a call is made again.
type retries struct {
	left     int
	pauses   pauses
	inFlight time.Duration
}

func newRetries(limit int) *retries { return &retries{left: limit} }

// wait reports whether a call that failed should be made again, and waits until then. It is false
// when the context ends meanwhile.
func (r *retries) wait(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	failed, ok := errors.AsType[*Error](err)
	if !ok || !canRetry(failed) || failed.RetryAfter > longestRetryAfter {
		return false
	}
	pause := r.pauses.take(failed.RetryAfter)
	if failed.Reason == ReasonIdempotencyKeyInFlight {
		if r.inFlight += pause; r.inFlight > inFlightFor {
			return false
		}
	} else if r.left--; r.left < 0 {
		return false
	}
	return sleep(ctx, pause) == nil
}

// canRetry reports whether time may mend a failure. A call that somebody cancelled stays so.
func canRetry(failed *Error) bool {
	if failed.foreign {
		return mayMend(failed.HTTPStatus)
	}
	return failed.Reason != ReasonCanceled && retryable[failed.Reason] || isLost(failed)
}

// isLost reports whether a call had no answer, or that of a service that is stopping.
func isLost(failed *Error) bool { return failed.Reason == ReasonUnavailable }

// sleep waits, or returns the error of ctx when that ends first.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
