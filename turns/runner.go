package turns

import (
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// Runner takes one turn. It is used by one goroutine; only the calls of a round run beside it.
type Runner struct {
	S *Service
	// Start is the turn to take.
	Start Start
	// config, when set, is used instead of the session's: what a socket configured.
	Config *agents.Config
	// options are what a socket asks of the answer.
	Options
	// Aside says that it is out of band: see aside.go.
	Aside bool
	// Origin is the socket's request, which the turn's trace points to; nil: the turn is part of
	// the request that ctx is of.
	Origin *telemetry.Origin
	// commandID and responseID go into the events.
	CommandID  string
	ResponseID string
	// Emit hands events on. Its error stops the turn.
	Emit func(Event) error

	Session sessions.Session
	Turn    sessions.Turn
	Begun   time.Time
	// Receipt is what the receipt will say.
	Receipt sessions.ReceiptBuilder
	// given is how many of the turn's messages were there when it began.
	given int
	// finish is why the model stopped.
	finish model.FinishReason
	// firstToken is from begun to the first piece of the answer; 0: none yet.
	firstToken time.Duration
	Earlier    []sessions.Message
	// before are the turns that earlier is of, summary what is told of those before them.
	before  past
	summary Summary
	// inspected is what the guards found in inspectedTexts; see guard.go.
	inspected      *guards.Findings
	inspectedTexts []guards.Text
	passages       []sessions.Passage
	// recalled is what memory says of the user.
	recalled []memory.Item
	tools    tools.Registry
	values   tools.Variables
	end      FinishParams
	stop     bool
	// begun is what the turn was begun with; nil for an answer out of band.
	begun *Begun
	// offline says that the turn was begun without Postgres, unreachable that no passages could be
	// looked up.
	offline, unreachable bool
	// interrupted says that the user's speech stopped it.
	interrupted bool
	// Approvals are the calls that wait for somebody's word; nil: there is nobody to ask.
	Approvals *Approvals
	// recorded is closed when the turn has been written down, or could not be.
	recorded chan struct{}
}

// Outcome is how a turn outcome.
type Outcome struct {
	// turn as it is recorded.
	Turn sessions.Turn
	// session behind it.
	Session sessions.Session
	// Err is why there is no answer, or only part of one; nil when it completed.
	Err error
	// Stopped says that somebody asked for the turn to be stopped.
	Stopped bool
}

// goneError says that emit failed: whoever asked has gone.
type goneError struct{ err error }

func (e goneError) Error() string { return "handing on the answer: " + e.err.Error() }

func (e goneError) Unwrap() error { return e.err }

// Tell emits an event on the way; its failure ends the turn as cancelled.
func (r *Runner) send(e Event) error {
	if err := r.Emit(e); err != nil {
		return goneError{err}
	}
	return nil
}
