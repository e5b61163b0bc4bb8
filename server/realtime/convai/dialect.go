package convai

import (
	"strconv"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

// Dialect is one socket's state. Its methods are never called at the same time.
type Dialect struct {
	session sessions.Session
	channel sessions.Channel
	history []sessions.Item
	// speaks is set when answers can be spoken on this socket, textOnly when the client wants none.
	speaks, textOnly bool
	now              func() time.Time

	// settled is set when metadataPause is over.
	settled bool
	// initiated is set when the initiation data came, greeted when the conversation was asked for
	// the greeting, returning for a client that was here before.
	initiated, greeted, returning bool
	// enabled are the events that the client asked for; nil: all but fullPayload.
	enabled map[string]bool
	// response is the open answer; nil: there is none.
	response *openResponse
	// withOperator is set while a person has the conversation: no answers are awaited.
	withOperator bool
	// awaited is the event id of the answer to the last user's message that was sent; 0: it has
	// begun, or will not begin.
	awaited int
	// turns counts the turns that the client was sent something of.
	turns int
	// heldItems wait for the end of the open or the awaited answer: see holdItem.
	heldItems []sessions.Item
	// approvals are the ids of the requests for approval, by call.
	approvals map[string]string
	// audioRefused is set once the client has got the error that it cannot speak here.
	audioRefused bool

	pings     int
	pingedAt  time.Time
	latencyMS *int64
	// frameCounts has the number of frames of the newest event ids, lastWhole the newest answer
	// that was sent completely: see send.
	frameCounts map[int]int
	lastWhole   int

	// step is the result of the call that is being handled.
	step dialect.Builder
}

// New makes a dialect. Open is to be called first.
func New(p dialect.Params) *Dialect {
	now := p.Now
	if now == nil {
		now = time.Now
	}
	return &Dialect{
		session: p.Session, channel: p.Channel, speaks: p.Speaks, history: p.History, now: now,
		returning: len(p.History) > 0, approvals: map[string]string{}, frameCounts: map[int]int{},
	}
}

// The event ids. In turn i (from 0) the user's message has 2i+1 and the agent's answer 2i+2: every
// part of an answer has the same id, as with ElevenLabs. An interruption of turn i has 2i+3, the id
// of the message that the user interrupted with.
func userEventID(turn int) int  { return 2*turn + 1 }
func agentEventID(turn int) int { return 2*turn + 2 }

// turnOf is the turn of an agent's event.
func turnOf(eventID int) (int, bool) { return eventID/2 - 1, eventID >= 2 && eventID%2 == 0 }

// alwaysEnabled are the events that a client cannot turn off.
var alwaysEnabled = map[string]bool{
	"conversation_initiation_metadata": true, "ping": true, "error": true, "client_tool_call": true,
}

// wholeMark is in the ids of an answer's frames from its agent_response on.
const wholeMark = "d"

// send adds an event with its object to the step. The id of its frame is the event's id, a dot, and
// the frame's number among those of the event, for the parts of an answer share one event id.
// Behind the dot is wholeMark once the answer was sent completely. Events with the id 0 have no
// frame id, and are not sent again.
func (d *Dialect) send(id int, kind string, object any) {
	if d.enabled != nil && !d.enabled[kind] && !alwaysEnabled[kind] {
		return
	}
	frameID := ""
	if id > 0 {
		d.frameCounts[id]++
		delete(d.frameCounts, id-4) // of two turns before
		frameID = strconv.Itoa(id) + "."
		if d.lastWhole == id || kind == "agent_response" {
			d.lastWhole = id
			frameID += wholeMark
		}
		frameID += strconv.Itoa(d.frameCounts[id])
	}
	d.step.Send(frameID, event{Type: kind, FrameID: frameID, object: object})
}

// The codes of error events. The protocol has no others.
const (
	codeNormal   = 1000
	codeProtocol = 1002
	codePolicy   = 1008
	codeInternal = 1011
)

// refuse answers a client event with an error; the session stays open. ElevenLabs closes with 1008
// for overrides that are not allowed; here a client that reads the error can go on.
func (d *Dialect) refuse(event string, r *refusal) {
	code := codePolicy
	if r.errorType == typeInvalid {
		code = codeProtocol
	}
	d.send(0, "error", wireError{
		Code: code, Type: r.errorType, Message: r.message,
		Details: errorDetails{Code: string(r.reason), Event: event, Fields: r.fields},
	})
}

// refuseFields answers the initiation data with an error about some of its members.
func (d *Dialect) refuseFields(errorType string, reason fault.Reason, fields []errorField) {
	if len(fields) == 0 {
		return
	}
	message := ""
	for _, f := range fields {
		message += f.Field + " was not applied: " + f.Message + " "
	}
	d.refuse(commandInitiate, &refusal{
		errorType: errorType, reason: reason, fields: fields,
		message: message + "The conversation goes on without.",
	})
}
