package turns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// ErrOffline says that the session goes on without Postgres.
var ErrOffline = errors.New("the session goes on without the database")

// OfflineError is ErrOffline for a cause, as Unavailable unavailable.
func OfflineError(cause error) *fault.Error {
	refusal := fault.Wrap(fmt.Errorf("%w: %w", ErrOffline, cause), fault.ServiceUnavailable,
		"The database is not available right now. Try again in a moment.")
	refusal.RetryAfter = 2 * time.Second
	return refusal
}

// IsOffline reports whether an error is ErrOffline.
func IsOffline(err error) bool { return errors.Is(err, ErrOffline) }

// Database gives work that is not a verb of Store access to Postgres, and keeps what must not be
// lost while Postgres is away. Package turns/journal implements it. Without it, work fails while
// Postgres is away.
type Database interface {
	// Reach runs work that needs Postgres. It cancels the work when Postgres stops to answer, and does
	// not begin it while that is known. Errors: ErrOffline, work's.
	Reach(ctx context.Context, work func(ctx context.Context) error) error
	// ReachSession is Reach for work on the rows of a session. Errors: ErrOffline also while the
	// journal has records of the session that must be written first, work's.
	ReachSession(ctx context.Context, id sessions.ID, work func(ctx context.Context) error) error
	// Offline reports whether Postgres is known to be away.
	Offline() bool
	// Holds reports whether the journal has records of the session, or will have one of a running
	// turn. HasEnd reports whether it has the end of a turn.
	Holds(id sessions.ID) bool
	HasEnd(id sessions.ID, turn sessions.TurnID) bool
	// TakeOver takes over the journals of processes on this machine that have ended. Settle also waits
	// a moment until the session's records are written.
	TakeOver(ctx context.Context)
	Settle(ctx context.Context, id sessions.ID)
	// Ready reports whether TakeOver has run since the start.
	Ready() bool
	// KeepLeft, KeepEnd and KeepTrace keep what could not be written: that a socket left, that a
	// session's end was requested, the trace of a call.
	KeepLeft(p LeftParams) error
	KeepEnd(p EndParams) (sessions.Session, error)
	KeepTrace(ctx context.Context, p TraceParams)
	// Run writes what is kept whenever Postgres answers, until ctx ends.
	Run(ctx context.Context)
	// Check asks Postgres whether it answers after an error that says that it may not.
	Check(ctx context.Context, err error)
}

// LeftParams is a socket that has left.
type LeftParams struct {
	Session sessions.Session
	// Socket is the socket's number.
	Socket int64
	// HungUp says that the client ended the connection on purpose.
	HungUp bool
	At     time.Time
}

// EndParams is the request for a session's end.
type EndParams struct {
	Session sessions.Session
	Status  sessions.Status
	Reason  string
}

// TraceParams is the trace of a call.
type TraceParams struct {
	Session sessions.Session
	Turn    sessions.TurnID
	// Offline says that the call's turn was begun without Postgres.
	Offline bool
	// Trace is nil when it was written.
	Trace *tools.Call
}

// directly is the Database that keeps nothing.
type directly struct{}

func (directly) Reach(ctx context.Context, work func(ctx context.Context) error) error {
	return work(ctx)
}

func (directly) ReachSession(ctx context.Context, _ sessions.ID, work func(ctx context.Context) error) error {
	return work(ctx)
}

func (directly) Offline() bool { return false }

func (directly) Holds(sessions.ID) bool { return false }

func (directly) HasEnd(sessions.ID, sessions.TurnID) bool { return false }

func (directly) TakeOver(context.Context) {}

func (directly) Settle(context.Context, sessions.ID) {}

func (directly) Ready() bool { return true }

func (directly) KeepLeft(LeftParams) error { return OfflineError(errNotKept) }

func (directly) KeepEnd(p EndParams) (sessions.Session, error) {
	return p.Session, OfflineError(errNotKept)
}

func (directly) KeepTrace(context.Context, TraceParams) {}

func (directly) Run(context.Context) {}

func (directly) Check(context.Context, error) {}

var errNotKept = errors.New("nothing is kept on disk")
