package live

import (
	"context"
	"maps"
	"sync"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// answerRequest is a Respond of a socket, or a turn of a lost node to resume.
type answerRequest struct {
	live    *Live
	command Respond
	// input is the command's Input as messages.
	input []sessions.Message
	// turn is the turn to resume; empty for a Respond.
	turn sessions.TurnID
	// requestedAt is when the Respond arrived; zero: when the answer begins.
	requestedAt time.Time
	// stores says that nobody asked for an answer: what was said is to be stored as a turn that a
	// person has. See handover.go.
	stores bool
	// blocked says that results of parallel calls were missing when the Respond arrived, so that it
	// may be a duplicate.
	blocked bool
}

// answer is an answer in progress.
type answer struct {
	// live gets the events. The engine may replace it under liveMu, under which the runner reads
	// it.
	live       *Live
	liveMu     sync.Mutex
	commandID  string
	responseID string
	turn       sessions.TurnID
	open       bool // the turn was accepted before the answer began
	resumed    bool // the turn's node was lost
	doneSent   bool // ResponseDone is sent; answerFinished follows
	outOfBand  bool
	stores     bool     // of the request
	items      []string // whose events were sent
	// deferred are commands that are carried out when the answer is recorded: those about its
	// items, and after ResponseDone all.
	deferred  []deferredCommand
	approvals *turns.Approvals
	cancel    context.CancelCauseFunc
	// cuts are what was heard of its items, which the runner reads.
	cutsMu sync.Mutex
	cuts   map[string]sessions.Cut
}

// cut notes what was heard of an item of the answer.
func (a *answer) cut(item string, cut sessions.Cut) {
	a.cutsMu.Lock()
	defer a.cutsMu.Unlock()
	if a.cuts == nil {
		a.cuts = map[string]sessions.Cut{}
	}
	a.cuts[item] = cut
}

// heardCuts are what was heard of items that were cut.
func (a *answer) heardCuts() map[string]sessions.Cut {
	a.cutsMu.Lock()
	defer a.cutsMu.Unlock()
	return maps.Clone(a.cuts)
}

// deferredCommand is a command of a socket that is carried out later.
type deferredCommand struct {
	live    *Live
	command Command
}

// clientCall is a call that waits for the client's result.
type clientCall struct {
	sessions.OpenCall

	// live asked for the answer; nil when the call is older than the engine.
	live  *Live
	timer *time.Timer
}

// clientCalls are the calls of a session that wait for the client's results.
type clientCalls struct {
	waiting map[string]*clientCall // by call id
	// spoken says that the user has spoken since the calls: the next answer does not wait for
	// results.
	spoken bool
	// results counts the results since the last answer began.
	results int
	// duplicates counts the Responds still expected for results that the last answer has taken
	// together.
	duplicates int
	// unasked counts the answers in a row that began because a call's time was over, without a word
	// of the user or a result of the client between them.
	unasked int
}

// maxUnasked bounds unasked: a model that calls the client's tool again in each such answer would
// otherwise go on for as long as the session is open.
const maxUnasked = 2

func newClientCalls() clientCalls { return clientCalls{waiting: map[string]*clientCall{}} }

// blocked reports whether the next answer must wait for results.
func (c *clientCalls) blocked() bool { return len(c.waiting) > 0 && !c.spoken }

// userSpoke records that the user said something.
func (c *clientCalls) userSpoke() { c.spoken, c.duplicates, c.unasked = true, 0, 0 }

// answerStarted records that an answer begins, which takes all results there are.
func (c *clientCalls) answerStarted() {
	c.duplicates = max(0, c.results-1)
	c.results, c.spoken = 0, false
}

// skipDuplicate reports whether a Respond is to be dropped: SDKs send one for each result of
// parallel calls, and one answer takes all results.
func (c *clientCalls) skipDuplicate(r Respond) bool {
	if c.duplicates == 0 || !r.mayBeDuplicate() {
		return false
	}
	c.duplicates--
	return true
}

// resolve removes a call; false when it did not wait.
func (c *clientCalls) resolve(id string) bool {
	call, waited := c.waiting[id]
	if waited {
		call.timer.Stop()
		delete(c.waiting, id)
	}
	return waited
}

// stop ends the calls' timers.
func (c *clientCalls) stop() {
	for id := range c.waiting {
		c.resolve(id)
	}
}
