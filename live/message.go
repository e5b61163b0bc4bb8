package live

import (
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// The messages that an engine handles, besides commandReceived and socketLeft.
type (
	// socketJoined is a new socket with what it read of its session. live is nil when the socket
	// could not join.
	socketJoined struct {
		live       *Live
		greeting   *sessions.Turn
		unanswered []sessions.Turn
		// turns are the newest turns.
		turns []sessions.Turn
		// open are the calls in turns that the client has not answered yet.
		open []sessions.OpenCall
		// items are the items of turns, including removed ones.
		items []sessions.Item
		// running is the turn that runs on any node; zero when none does.
		running sessions.Turn
		// processed is closed when the engine has handled the message.
		processed chan struct{}
	}
	// answerEvent is an event of an answer.
	answerEvent struct {
		run   *answer
		event turns.Event
		// processed, unless nil, is closed once the socket has the event.
		processed chan struct{}
	}
	// answerFinished is the outcome of an answer. Its Turn has no Status when it never began.
	answerFinished struct {
		run     *answer
		outcome turns.Outcome
	}
	// outOfBandDone is the end of an answer out of band.
	outOfBandDone struct {
		run *answer
		err error
	}
	// socketReplaced says that a later socket of the channel has joined, on any node.
	socketReplaced struct {
		channel sessions.Channel
		number  int64
	}
	// sessionEnded says that the session is closed.
	sessionEnded struct{ session sessions.Session }
	// turnRecorded is a turn that was taken on this node without a socket.
	turnRecorded struct{ turn sessions.Turn }
	// turnRecordedElsewhere is a turn that another node has recorded.
	turnRecordedElsewhere struct{ turn sessions.Turn }
	// callExpired says that the client has not answered a call in time.
	callExpired struct{ call *clientCall }
	// itemsEdited has the session's item edits as another node has written them.
	itemsEdited struct{ edits sessions.ItemEdits }
	// turnsToResume are the session's turns that have no answer.
	turnsToResume struct{ turns []sessions.Turn }
	// remoteTurnDone is a turn that another node ran, and that runs no longer.
	remoteTurnDone struct {
		turn     sessions.Turn
		response string
	}
	// awayExpired says that no socket took an away Live's place within DropGrace.
	awayExpired struct{ live *Live }
	// nodeStopping says that the node is being stopped.
	nodeStopping struct{}
)
