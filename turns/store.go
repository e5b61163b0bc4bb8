package turns

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/tools"
)

// Store is where turns are kept: the verbs of taking a turn, each of which exists once. Package
// turns/pgstore implements it.
//
// All errors are as package platform/postgres leaves them, unless a verb says otherwise. Each verb
// may be repeated after an error: what the first try has stored is not stored twice.
type Store interface {
	// Accept writes down what a client said or answered, to be answered later.
	// Errors: NotFound, Precondition session-closed, Invalid invalid-request (a call's id).
	Accept(ctx context.Context, p AcceptParams) (sessions.Turn, error)
	// Begin takes the lease of a session for a turn, writes a new turn down, and reads what the
	// turn needs to be answered. After an error Begun.Session is the session as far as it was read.
	// Errors: ErrBusy, ErrLeaseOver, ErrTaken, ErrNoOperator, NotFound, Precondition session-closed,
	// Aborted conflict (the turn was closed meanwhile), Invalid invalid-request
	// (tool_outputs[i].call_id), ErrExists.
	Begin(ctx context.Context, p BeginParams) (Begun, error)
	// History reads earlier turns, newest first: id, index, status and messages of each.
	History(ctx context.Context, session sessions.Session, p HistoryParams) ([]sessions.Turn, error)
	// Save writes the messages of a running turn. Mine is false when the turn is no longer this
	// node's.
	Save(ctx context.Context, p SaveParams) (mine bool, err error)
	// Finish writes a turn's end and what it means to its session.
	Finish(ctx context.Context, p FinishParams) (Finished, error)
	// AddResults puts late results of calls in the place of unknown ones. Errors: NotFound.
	AddResults(ctx context.Context, p ResultParams) error
	// Renew keeps the lease of a running turn.
	Renew(ctx context.Context, p LeaseParams) (Renewed, error)
	// Reclaim takes back a turn that was taken for lost while its node could not reach Postgres.
	// Mine is false when somebody else has it.
	Reclaim(ctx context.Context, p LeaseParams) (mine bool, err error)
}

// Why a turn cannot begin yet, or not here.
var (
	// ErrBusy says that another turn of the session runs, or that turns from a journal are being
	// written.
	ErrBusy = errors.New("another turn is running")
	// ErrLeaseOver says that the turn that runs was not renewed in time: its node may be lost.
	ErrLeaseOver = errors.New("another turn is running, and its lease is over")
	// ErrExists says that there is a turn with the id of the new one: a request was repeated.
	ErrExists = errors.New("the turn is there already")
	// ErrTaken says that a lost turn is answered elsewhere, or is over.
	ErrTaken = errors.New("the lost turn is taken already")
	// ErrNoOperator says that the turn was only to be stored, and that no person has the session.
	ErrNoOperator = errors.New("no person has the session")
)

// AcceptParams is something that a client said or answered.
type AcceptParams struct {
	Session sessions.Session
	// New is the id of the turn that is made when Open is not there to be added to.
	New sessions.TurnID
	// Open is the unanswered turn, which the message is added to; empty: there is none.
	Open    sessions.TurnID
	Message sessions.Message
	// Cache is what the node knows of the session; nil: nothing.
	Cache *SessionCache
}

// BeginParams says which turn is to be run.
type BeginParams struct {
	// Session is the session as its node last saw it. What changes in a session's life is read
	// anew.
	Session sessions.Session
	Turn    sessions.TurnID
	// New is what a new turn begins with; nil: the turn was accepted before.
	New *NewTurn
	// Response is the id of the answer that a socket asked for; empty for a turn without a socket.
	// A lease that is held by this turn for this answer is an earlier try's.
	Response string
	// Resume says that the turn's node was lost, and that the turn is taken from there.
	Resume bool
	// Stores is Start.Stores: the turn begins only while a person has the session.
	Stores bool
	// TakeLost says that a turn whose lease is over may be taken from its node: the caller knows
	// that the node could have renewed it, and that no journal at hand has more of it.
	TakeLost bool
	// Cache is what the node knows of the session; nil: nothing.
	Cache *SessionCache
}

// NewTurn is what a turn begins with.
type NewTurn struct {
	// Said is what the user said; none asks the agent to go on.
	Said []sessions.Message
	// Outputs are a client's results of calls, which are put beside their calls too.
	Outputs []sessions.Message
	// ClientTools are the caller's own tools, as they are kept while the turn runs; nil: none.
	ClientTools json.RawMessage
}

// Begun is a turn whose lease is held, and what it is answered from.
type Begun struct {
	Session sessions.Session
	Turn    sessions.Turn
	// Answered are the calls that NewTurn.Outputs were results of.
	Answered []tools.ClientCall
	Summary  Summary
	History  HistoryPage
	// Tools is what of the agent's tools was asked along; nil: nothing was.
	Tools *tools.Prefetch
	// Search finds the turn's passages; what it begins with was read along. Nil: there is none.
	Search Search
	// OwnKeys says that the workspace may have model keys of its own.
	OwnKeys bool
	// Offline says that the turn was begun without Postgres: it is answered from the session cache.
	Offline bool
	// Release is called when the turn is over, recorded or not; nil: nobody waits for it.
	Release func()
}

// SaveParams is a running turn as it stands.
type SaveParams struct {
	Session sessions.Session
	Turn    sessions.Turn
	// Response is the id of the answer that a socket asked for.
	Response string
	// Offline is Begun.Offline.
	Offline bool
}

// Summary is what a session's first turns are told as.
type Summary struct {
	Text string
	// Turns is how many turns it tells of; 0: there is none.
	Turns int
}

// HistoryPageTurns is how many turns of the history are read at once, newest first: most
// conversations are shorter.
const HistoryPageTurns = 48

// HistoryParams says which turns are read.
type HistoryParams struct {
	// Below is the index that all of them are below, Limit how many are read at most.
	Below, Limit int
}

// HistoryPage are the newest turns that no summary tells of.
type HistoryPage struct {
	Turns []sessions.Turn
	// More says that there may be older ones.
	More bool
}

// FinishParams is the end of a turn.
type FinishParams struct {
	// Session is the session as it was when the turn began.
	Session sessions.Session
	Turn    sessions.Turn
	// Escalation is announced with the end; nil: there is none.
	Escalation *Escalation
	// Handover asks for a person; nil: nobody is asked.
	Handover *handover.Request
	// EndCall closes the session behind the turn. EndReason is its end_reason; empty: end_call.
	EndCall   bool
	EndReason string
	// Language, when set, becomes the session's.
	Language string
	// Assigned are the variables that answers of tools have set.
	Assigned map[string]string
	// Cuts are what was heard of the turn's items that were cut, by their ids.
	Cuts map[string]sessions.Cut
	// At is when the turn ended.
	At time.Time
	// Offline is Begun.Offline.
	Offline bool
	// Cache is what the node knows of the session; nil: nothing.
	Cache *SessionCache
	// MoreToCome says that a journal has more records of the session: its end is only written down.
	MoreToCome bool
}

// Escalation says that somebody entered a no-go zone that is to be announced.
type Escalation struct {
	Guard     string `json:"guard"`
	Side      string `json:"side"`
	MatchedBy string `json:"matched_by"`
}

// Finished is what became of a turn's end.
type Finished struct {
	// Session as it is afterwards, and Turn as it is recorded.
	Session sessions.Session
	Turn    sessions.Turn
	// Recorded is false when somebody else finished the turn before: a forced end, the sweep,
	// another node.
	Recorded bool
}

// ResultParams are late results of the calls of a turn.
type ResultParams struct {
	Session sessions.Session
	Turn    sessions.TurnID
	Results []sessions.Message
	// Assigned are the variables that they have set.
	Assigned map[string]string
}

// LeaseParams says whose lease is meant.
type LeaseParams struct {
	Session  sessions.Session
	Turn     sessions.TurnID
	Response string
	// Losses are the turn's: another number says that another node has it.
	Losses int
}

// Renewed is how a lease stands.
type Renewed struct {
	// Mine is false when the turn is no longer this node's.
	Mine bool
	// Ending says that the end of the session was asked for.
	Ending bool
}
