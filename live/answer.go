package live

import (
	"context"
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
	items      []string // whose events were sent
	// deferred are commands that are carried out when the answer is recorded: those about its
	// items, and after ResponseDone all.
	deferred  []commandReceived
	approvals *turns.Approvals
	cancel    context.CancelCauseFunc
}
