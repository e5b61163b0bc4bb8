package realtime

import (
	"errors"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/websocket"
)

// Close codes of RFC 6455, 7.4, and the registry behind it.
const (
	closeNormal    = 1000
	closeGoingAway = 1001
	closeProtocol  = 1002
	closeNone      = 1005 // the client's close frame had no code
	closeLost      = 1006 // there was no close frame; never sent
	closeInvalid   = 1007
	closePolicy    = 1008
	closeTooBig    = 1009
	closeInternal  = 1011
	closeRestart   = 1012
)

// closeFlood is our own.
const closeFlood = 4429

// hangUp is the reason of a client that hangs up.
const hangUp = "hang_up"

// ending is how a socket ends.
type ending struct {
	code   int
	reason string
	// leaving is passed to the conversation, which ignores it after its own Closed.
	leaving live.Leaving
	// decided says that Calls has nothing to say about the end of a call's socket (any more).
	decided bool
	// silent is set when no close frame is sent: the client is gone, or has sent its own.
	silent bool
	// discards is set when unwritten frames are thrown away: the client does not read.
	discards bool
}

// The ends of this package; the others come from the conversation. Codes and reasons are permanent.
var (
	// endRestart has the conversation's code for a restart and a reason that says what to do.
	endRestart  = ending{code: closeRestart, reason: "reconnect", leaving: live.Dropped}
	endTooLarge = ending{code: closeTooBig, reason: "frame_too_large", leaving: live.Dropped}
	// endSlowReader is a client that does not read what it is sent, endSlowWriter one that begins a
	// message and does not finish it.
	endSlowReader = ending{
		code: int(live.CloseSlow), reason: "slow_reader", leaving: live.Dropped,
		discards: true,
	}
	endSlowWriter = ending{
		code: int(live.CloseSlow), reason: "slow_writer", leaving: live.Dropped,
	}
	endFlood    = ending{code: closeFlood, reason: "flood", leaving: live.Dropped}
	endText     = ending{code: closeInvalid, reason: "invalid_utf8", leaving: live.Dropped}
	endProtocol = ending{code: closeProtocol, reason: "protocol_error", leaving: live.Dropped}
	endHungUp   = ending{code: closeNormal, reason: hangUp, leaving: live.HungUp}
	endLost     = ending{code: closeLost, reason: "lost", leaving: live.Dropped, silent: true}
	endInternal = ending{code: closeInternal, reason: "internal_error", leaving: live.Dropped}
)

// endOfRead is the end that a failed read means. A close frame with 1000, 1001 or without a code is
// a hang-up; any other is a lost connection. Source: decisions, Sessions.
func endOfRead(err error) ending {
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		switch closed.Code {
		case closeNormal, closeGoingAway, closeNone:
			return ending{code: closed.Code, reason: hangUp, leaving: live.HungUp, silent: true}
		}
		return ending{code: closed.Code, reason: "lost", leaving: live.Dropped, silent: true}
	}
	for known, end := range map[error]ending{
		websocket.ErrTooLarge: endTooLarge, websocket.ErrReadTimeout: endSlowWriter,
		websocket.ErrFlood: endFlood, websocket.ErrText: endText, websocket.ErrProtocol: endProtocol,
	} {
		if errors.Is(err, known) {
			return end
		}
	}
	return endLost
}

// endOfSession is the end that the conversation asks for.
func endOfSession(e live.Closed) ending {
	if e.Code == live.CloseRestart {
		end := endRestart
		end.decided = true
		return end
	}
	return ending{
		code: int(e.Code), reason: closeReason(e.Reason), discards: e.Code == live.CloseSlow, decided: true,
	}
}

// endOfJoin is the end of a socket that could not join: the session ended between the socket's
// admission and its upgrade, or the node is being stopped.
func endOfJoin(err error) ending {
	switch decided := fault.From(err); decided.Reason {
	case fault.SessionClosed:
		return ending{code: closePolicy, reason: "session-closed"}
	case fault.ServiceUnavailable:
		return endRestart
	default:
		return endInternal
	}
}

// maySurvive reports whether the conversation goes on when a socket ends so, for a client that may
// come back.
func (e ending) maySurvive() bool {
	return e.leaving == live.Dropped && e.code != endInternal.code
}

// maxReasonBytes is the longest reason that a close frame can hold.
const maxReasonBytes = 123

// closeReason cuts a reason to maxReasonBytes, between characters.
func closeReason(reason string) string {
	return strings.ToValidUTF8(reason[:min(len(reason), maxReasonBytes)], "")
}
