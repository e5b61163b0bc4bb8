package idempotency

import "context"

type runningKey struct{}

// WithRunning marks a request whose first sending is being done (Claim.Running), for a handler that
// can follow what it makes. The ids in ctx are those of the first sending.
func WithRunning(ctx context.Context) context.Context {
	return context.WithValue(ctx, runningKey{}, true)
}

// IsRunning reports whether ctx was marked by WithRunning.
func IsRunning(ctx context.Context) bool { return ctx.Value(runningKey{}) != nil }
