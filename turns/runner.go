package turns

import (
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/agents/judge"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns/ahead"
	"parlance.dev/parlance/turns/history"
)

// Runner takes one turn. It is used by one goroutine; only the calls of a round run beside it.
type Runner struct {
	S *Service
	// Start is the turn to take.
	Start Start
	// Config, when set, is used in place of the session's: a socket has configured it.
	Config *agents.Config
	// Options are what the caller asks of the answer.
	Options
	// Aside says that the answer is out of band; see aside.go.
	Aside bool
	// Origin is the request that opened the socket, to which the turn's trace points; nil: the turn is
	// part of the trace of its own request.
	Origin *telemetry.Origin
	// CommandID and ResponseID go into the events.
	CommandID  string
	ResponseID string
	// Emit takes the events. Its error stops the turn.
	Emit func(Event) error

	Session sessions.Session
	Turn    sessions.Turn
	Begun   time.Time
	// Receipt collects what the receipt says.
	Receipt sessions.ReceiptBuilder
	// initialMessages is how many messages the turn had when it began.
	initialMessages int
	// finish is why the model stopped.
	finish model.FinishReason
	// firstToken is how long after Begun the first piece of the answer came; 0: none yet.
	firstToken time.Duration
	Earlier    []sessions.Message
	// before are the turns of which Earlier are the messages. summary covers those before them.
	before  history.Past
	summary Summary
	// screen looks at what is said by the agent's guards; see nogo.go.
	screen *judge.Screen
	// inspected are the rules that guards.Inspect found, by text; see guard.go.
	inspected map[string]string
	// agreed are the withheld calls that the user has said yes to.
	agreed   []sessions.MessageCall
	passages []sessions.Passage
	// recalled is what memory says of the user.
	recalled []memory.Item
	tools    tools.Registry
	// usedUp are the tools whose cap of calls the session has reached.
	usedUp map[tools.ID]bool
	values tools.Variables
	end    FinishParams
	stop   bool
	// begun is what the turn was begun with; nil for an answer out of band.
	begun *Begun
	// offline says that the turn was begun without Postgres, unreachable that no passages could be
	// searched.
	offline, unreachable bool
	// interrupted says that the user's speech stopped the answer.
	interrupted bool
	// CutsFunc returns what was heard of items that were cut before the turn is recorded; nil: all.
	CutsFunc func() map[string]sessions.Cut
	// Ahead is the answer that was asked for before the turn began; nil: none was.
	Ahead *ahead.Answer
	// Approvals are the calls that wait for approval; nil: there is nobody to ask.
	Approvals *Approvals
	// recorded is closed when the turn has been recorded, or could not be.
	recorded chan struct{}
}

// Outcome is how a turn ended.
type Outcome struct {
	// Turn is the turn as it is recorded.
	Turn sessions.Turn
	// Session is the session after the turn.
	Session sessions.Session
	// Err is why there is no answer, or only part of one; nil when it completed.
	Err error
	// Stopped says that the turn was stopped on request.
	Stopped bool
}

// goneError says that Emit failed: the caller has gone.
type goneError struct{ err error }

func (e goneError) Error() string { return "handing on the answer: " + e.err.Error() }

func (e goneError) Unwrap() error { return e.err }

// send emits an event. An error of Emit ends the turn as cancelled.
func (r *Runner) send(e Event) error {
	if err := r.Emit(e); err != nil {
		return goneError{err}
	}
	return nil
}
