package live

import (
	"strings"

	"parlance.dev/parlance/sessions"
)

// CallCommand begins the ids of the commands that a call of package voice gives by itself, such as
// for what its user has said.
const CallCommand = "voice:"

// IsOfCall reports whether a command is one that a call has given by itself.
func IsOfCall(commandID string) bool { return strings.HasPrefix(commandID, CallCommand) }

// A command is late when its socket is no longer attached, or its session is ending. A client whose
// connection was lost sends its messages again, and its results for which it asks for an answer
// itself: those are taken from its next socket only. Nobody sends again what the user has said
// aloud.

// carryOutLate carries out a late command, as far as its client does not send it again.
func (e *engine) carryOutLate(live *Live, command Command) {
	switch c := command.(type) {
	case Truncate:
		if c.HeardText != nil { // it was heard, whatever became of the socket
			e.truncate(live, c)
		}
	case Feedback:
		if run := e.current; run != nil && len(run.deferred) < maxDeferred {
			run.deferred = append(run.deferred, deferredCommand{live: live, command: c}) // it may be about the answer in progress
			return
		}
		e.saveFeedback(live, c)
	default:
		if e.ending == nil {
			e.carryOutForSuccessor(live, command)
		}
	}
}

// carryOutForSuccessor carries out a command of a socket that is gone, whose session continues.
func (e *engine) carryOutForSuccessor(live *Live, command Command) {
	successor := e.successorOf(live)
	switch c := command.(type) {
	case UserMessage:
		switch {
		case !IsOfCall(c.CommandID):
		case successor != nil:
			e.acceptMessage(successor, c)
		case c.isSayable():
			e.storeUnanswered(c.stored())
		}
	case Ask:
		switch {
		case successor == nil:
			e.carryOutForSuccessor(live, c.Message)
		case IsOfCall(c.Message.CommandID):
			e.acceptAndRespond(successor, c)
		}
	case Insert:
		switch message, err := c.stored(); {
		case err != nil || !IsOfCall(c.CommandID):
		case successor != nil:
			e.insert(successor, c)
		default:
			e.storeUnanswered(message)
		}
	case ToolOutput:
		if successor != nil && c.Respond {
			e.acceptToolOutput(successor, c)
		}
	case Approve:
		e.approve(live, c)
	}
}

// successorOf returns the Live for which the late commands of a socket are carried out: that of its
// channel, unless the client is on another node now. nil: there is none.
func (e *engine) successorOf(live *Live) *Live {
	if next := e.socketOf(live.channel); next != nil && !next.dropWhenIdle {
		return next
	}
	return nil
}

// storeUnanswered stores what was said on a socket without a successor, in the unanswered turn or
// one of its own. Nobody here asks for an answer to that, so it is closed: the model sees it in the
// next answer, whichever node gives that.
func (e *engine) storeUnanswered(message sessions.Message) {
	open := e.unanswered
	if e.accept(nil, "", message) && e.unanswered != open {
		e.abandonTurn(e.unanswered)
		e.unanswered = ""
	}
}
