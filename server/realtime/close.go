package realtime

import (
	"unicode/utf8"

	"github.com/coder/websocket"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/fault"
)

// ending is how a socket ends.
type ending struct {
	code   websocket.StatusCode
	reason string
	// leaving is what the core is told; it takes no notice after its own Closed.
	leaving conversation.Leaving
	// silent says that no close frame is to be sent: the client is gone, or has sent its own.
	silent bool
	// hurried says that what is unwritten is dropped: the client does not read.
	hurried bool
}

// The ends of this package; the others are the core's. Codes and reasons are permanent.
var (
	// endRestart has the code of the core's and says what to do.
	endRestart  = ending{code: websocket.StatusServiceRestart, reason: "reconnect", leaving: conversation.Dropped}
	endTooLarge = ending{code: websocket.StatusMessageTooBig, reason: "frame_too_large", leaving: conversation.Dropped}
	endSlow     = ending{code: websocket.StatusCode(conversation.CloseSlow), reason: "slow_reader", leaving: conversation.Dropped, hurried: true}
	endLost     = ending{code: websocket.StatusAbnormalClosure, reason: "lost", leaving: conversation.Dropped, silent: true}
	endInternal = ending{code: websocket.StatusInternalError, reason: "internal_error", leaving: conversation.Dropped}
)

// endOfRead is the end that a failed read means. A close frame with 1000, 1001 or without a code
// is a hang-up, anything else a lost connection. Source: decisions, Sessions.
func endOfRead(err error) ending {
	switch code := websocket.CloseStatus(err); code {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return ending{code: code, reason: "hang_up", leaving: conversation.HungUp, silent: true}
	case -1:
		return endLost
	default:
		return ending{code: code, reason: "lost", leaving: conversation.Dropped, silent: true}
	}
}

// endOfSession is the end that the core asks for.
func endOfSession(e conversation.Closed) ending {
	if e.Code == conversation.CloseRestart {
		return endRestart
	}
	return ending{code: websocket.StatusCode(e.Code), reason: closeReason(e.Reason), hurried: e.Code == conversation.CloseSlow}
}

// endOfJoin is the end of a socket that could not join: the session ended between its admission and the upgrade,
// or the node is being stopped.
func endOfJoin(err error) ending {
	switch decided := fault.From(err); decided.Reason {
	case fault.SessionClosed, fault.SessionTokenInvalid, fault.SessionModality:
		return ending{code: websocket.StatusPolicyViolation, reason: string(decided.Reason)}
	case fault.ServiceUnavailable:
		return endRestart
	default:
		return endInternal
	}
}

// maxReasonBytes is what a close frame has room for.
const maxReasonBytes = 123

// closeReason cuts a reason to what fits, between characters.
func closeReason(reason string) string {
	if len(reason) <= maxReasonBytes {
		return reason
	}
	cut := maxReasonBytes
	for cut > 0 && !utf8.RuneStart(reason[cut]) {
		cut--
	}
	return reason[:cut]
}
